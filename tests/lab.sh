#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tests/lab.sh - does the lab keep what lab/lab promises? Runs on the host, on copies of
# lab/, so it does not disturb a lab that is up here. As the guest is root and has rdma_rxe,
# the kinds "host" and "device" are tried in there.
#
# usage: tests/lab.sh [-s|-l]   -s: without frozen guests, runs at once and two hosts, which boot
#            many guests; -l: with more of them
# shellcheck disable=SC2016 # what single quotes hold is for the guest's shell
. tests/lib.sh
. lab/arch
[ -n "$qemu" ] || { echo "skip the lab: there is no vm kind for $arch" && exit; }
# A copy uses our kernel; what is not given and not fetched is the running one.
unset LAB_IN LAB_STATE LAB_HOST LAB_HOSTS DEV SERVER_ARGS CLIENT_ARGS
export LAB=vm
lab/lab doctor | grep '^MISSING' # tells why, if what follows fails
if lab/lab doctor | grep -q 'kernel: .* downloaded'; then
	timeout 900 lab/lab run true || not_ok "the kernel is fetched"
fi
k=$(ls build/kernel/package/{boot/vmlinuz-,lib/modules/*/vmlinuz}* 2>/dev/null)
m=$(echo "$PWD"/build/kernel/package/lib/modules/*)
[ -n "${LAB_KERNEL:-}" ] || [ -z "$k" ] || export LAB_KERNEL=$PWD/$k LAB_MODULES=$m

end() {
	for d in "$a" "$b"; do
		[ ! -d "$d/lab" ] || "$d/lab/lab" down 2>/dev/null
	done
	rm -rf "/usr/local/bin/lab-test.$$"*
}
# Names that need quoting, below a directory that the guest hides (/tmp).
TMPDIR=/tmp scratch end
a="$tmp/it's a, lab" b=$tmp/b
mkdir "$a" "$b"
for d in "$a" "$b"; do
	cp -R lab "$d" && mkdir "$d/build" && ln -s "$PWD/build/kernel" "$d/build/kernel"
done
cp --parents build/pair build/{03_read,05_fence}/{server,client} "$a"
cd "$a" || exit

run() { timeout 300 lab/lab run "$@" 2>"$tmp/err"; }
# want NAME EXPECTED GOT
want() { check "$1" "got \"$3\", expected \"$2\"" [ "$2" = "$3" ]; }

# Processes of the copies, by where they are: QEMU, ssh and socat work in the
# lab's directory. Zombies have no cwd.
processes() {
	find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$tmp*/build/*" -printf '%h/comm\n' | xargs -r cat
	find "$tmp" -name 'run.*'
} 2>/dev/null
without() { [[ "$(processes)" != *$1* ]]; } # PART of what processes prints
gone() { # NAME
	within 10 without '?'
	want "$1" "" "$(processes)"
}
# A run in a process group of its own, as from a terminal; SIGINT works there.
behind() {
	rm -f "$tmp/out"
	setsid env --default-signal=INT,QUIT lab/lab run "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
}
# end_by SIGNAL: end it, and return its status. KILL takes only lab/lab itself.
end_by() {
	[ "$1" = KILL ] || set -- "$1" -
	kill -s "$1" -- "${2-}$pid"
	{ wait $pid; } 2>/dev/null
}
# await TEXT: has the run printed it?
await() {
	within 300 grep -qs "$1" "$tmp/out" && return
	not_ok "a run that prints $1" "$(tail -qn 1 "$tmp/err" "$tmp/out")"
	return 1
}

# ---- what needs no lab ----

out=$(LAB=nonsense lab/lab run true 2>&1)
want "LAB=nonsense: one line that says what to type" "125 lab: LAB=nonsense: type LAB=" "$? ${out%%vm, *}"
lab/lab 2>/dev/null
want "no verb: usage, exit 2" 2 $?
err=$(LAB='' DEV=nosuch0 lab/lab run true 2>&1)
want "DEV=nosuch0: exit 125" 125 $?
want "DEV=nosuch0: one line that says what to type" "1 1" \
	"$(grep -c . <<<"$err") $(grep -c 'no device nosuch0.*: type ' <<<"$err")"

# ---- one run, one guest ----

run true # what is made once, an initramfs and a frozen guest, has been made
out=$(run sh -c 'echo "$LAB_KIND $DEV_SERVER $DEV_CLIENT"; pwd; exit 42')
want "exit status 42 comes back" 42 $?
want "the kind, the devices and the directory" "vm rxe0 rxe1"$'\n'"$a" "$out"
want "one line of our own" 1 "$(grep -c '^lab: vm (Linux .* under QEMU ' "$tmp/err")"
gone "nothing is left of it"

for signal in INT KILL; do
	behind sh -c 'echo begun; sleep 1000'
	await begun
	end_by "$signal"
	rc=$?
	[ $signal = KILL ] || want "SIG$signal ends a run" $((128 + $(kill -l $signal))) $rc
	gone "nothing is left after SIG$signal"
done

run sh -c 'sleep 0.2; echo c >/proc/sysrq-trigger; sleep 60' >/dev/null
want "a guest that panics: exit 125" 125 $?
want "and its console is named" "the guest died or hangs: see $a/build/lab/console.log" \
	"$(sed -n 's/^lab: \(the guest\)/\1/p' "$tmp/err")"
try "and says so" grep -qs 'Kernel panic' build/lab/console.log
gone "nothing is left of it"

# ---- several guests: frozen ones, at once, two hosts ----

# Two that wake up from the same state must not have the same random numbers, and
# know what time it is.
awake() {
	run sh -c 'date +%s; cat /proc/sys/kernel/random/uuid; head -c 8 /dev/urandom | od -An -t x1
		ibv_rc_pingpong -d rxe0 -g 0 -n 1 >/dev/null &
		until ss -Hltn | grep -q :18515; do sleep 0.1; done
		ibv_rc_pingpong -d rxe1 -g 0 -n 1 localhost | grep -o "PSN 0x[0-9a-f]*"; wait' >"$1"
}
frozen() { echo build/kernel/frozen-*; }
frozen_guest() {
	rm build/kernel && mkdir build/kernel # a state of our own, to be damaged
	run true
	check "a guest has been frozen" "$(last_lines "$tmp/err")" [ -s "$(frozen)" ]
	awake "$tmp/1"
	before=$(date +%s)
	awake "$tmp/2"
	want "two wake up: four random numbers each, none the same" "4 4 0" \
		"$(tail -n +2 "$tmp/1" | grep -c .) $(tail -n +2 "$tmp/2" | grep -c .) $(grep -c -x -F -f <(tail -n +2 "$tmp/1") "$tmp/2")"
	read -r now <"$tmp/2"
	try "and know what time it is" [ "$((before <= now && now <= $(date +%s)))" = 1 ]
	# again NAME SAID: a run works, and says that.
	again() {
		run true
		want "$1: the run works" 0 $?
		try "$1: and says \"$2\"" grep -q "^lab: $2" "$tmp/err"
	}
	printf damaged | dd of="$(frozen)" bs=1 seek=$(($(stat -c %s "$(frozen)") / 2)) conv=notrunc 2>/dev/null
	again "a damaged state" "the frozen guest did not wake up; it boots"
	if [ "${1-}" = -l ]; then
		again "after that" "saving a guest"
		: >"$(frozen)"
		again "an empty state" "the frozen guest did not wake up; it boots"
		mkdir "$tmp/newer"
		write_script "$tmp/newer/$qemu" "exec $(command -v "$qemu") \"\$@\""
		PATH=$tmp/newer:$PATH again "another QEMU" "saving a guest"
		cp "$LAB_KERNEL" "$tmp/kernel"
		LAB_KERNEL=$tmp/kernel again "another kernel" "saving a guest"
	fi
	touch -d '1 hour ago' build/kernel/frozen-{1..5}
	echo '# another checkout' >>lab/init
	again "another checkout" "saving a guest"
	want "four states are kept, the newest among them" "4 1" \
		"$(find build/kernel/ -name 'frozen-*' | wc -l) $(find build/kernel/ -name 'frozen-*' -size +1M -newer lab/init | wc -l)"
	gone "nothing is left of them"
}

if [ "${1-}" != -s ]; then
	(cd "$b" && timeout 300 lab/lab run sh -c 'hostname; sleep 1' >"$tmp/b.out" 2>&1) &
	other=$!
	timeout 300 lab/lab run sh -c 'hostname; sleep 1' >"$tmp/a.out" 2>/dev/null &
	same=$!
	run true
	want "three runs at once, in two checkouts: one" 0 $?
	wait $same
	want "two" 0 $?
	wait $other
	want "three" 0 $?
	gone "nothing is left of them"

	if grep -q 'under QEMU TCG' "$tmp/err"; then
		frozen_guest "$@"
	else
		echo "skip a frozen guest: KVM boots each time"
	fi

	out=$(LAB=hosts run sh -c 'LAB_HOST=1 lab/lab run cat /proc/sys/kernel/random/boot_id
		LAB_HOST=2 lab/lab run cat /proc/sys/kernel/random/boot_id; exit 7')
	want "hosts: exit status 7 comes back" 7 $?
	want "hosts: two machines" 2 "$(sort -u <<<"$out" | grep -c .)"
	want "hosts: one line of our own" 1 "$(grep -c . "$tmp/err")"
	gone "hosts: nothing is left"
	signals=(TERM)
	[ "${1-}" != -l ] || signals=(INT TERM KILL) # each boots two guests
	for signal in "${signals[@]}"; do
		LAB=hosts behind sh -c 'LAB_HOST=2 lab/lab run sh -c "echo begun; sleep 1000"'
		await begun
		end_by "$signal"
		gone "hosts: nothing is left after SIG$signal"
	done
	mkdir "$tmp/bin"
	# The first fails, the second is still at it.
	write_script "$tmp/bin/$qemu" '[ $1 != --version ] || exec echo 9.0' \
		'case $* in *lab_host=2*) sleep 1 ;; esac; echo "no such thing" >&2; exit 1'
	LAB=hosts PATH=$tmp/bin:$PATH run true
	want "hosts: a boot that fails: exit 125" 125 $?
	want "hosts: and one line" "1 1" \
		"$(grep -c . "$tmp/err") $(grep -c 'the guest did not come up: see .*/console-1.log' "$tmp/err")"
	gone "hosts: nothing is left of it"
fi

# ---- a lab that stays up ----

lab/lab up 2>/dev/null
want "up" 0 $?
want "up again: it is up already" "lab: already up: vm" "$(lab/lab up 2>&1 | sed 's/ (.*//')"
try "doctor sees its devices" timeout 100 sh -c \
	'lab/lab doctor | grep -q "^ok .*rxe1: port 1 is active"'

while IFS='|' read -r name rc command; do
	run sh -c "$command" </dev/null
	want "$name" "$rc" $?
done <<'END'
exit status 255 comes back|255|exit 255
killed by signal 9: exit 137|137|kill -9 0 # its group is its own
a run that was lost: exit 125|125|kill -9 $PPID # ssh's 255, and not the command's
END
try "it says so" grep -q 'was lost.*type it again' "$tmp/err"
run ./nosuch
want "no such command: exit 127" 127 $?

run sh -c 'seq -f "out %.0f" 20000 & seq -f "err %.0f" 20000 >&2; wait' >"$tmp/out"
sed -i '/^lab: vm/d' "$tmp/err"
try "stdout is exact" cmp <(seq -f 'out %.0f' 20000) "$tmp/out"
try "stderr is exact" cmp <(seq -f 'err %.0f' 20000) "$tmp/err"
timeout 300 lab/lab run sh -c 'for i in $(seq 200); do echo $i; echo $i >&2; done' >"$tmp/out" 2>&1
want "one file for both: the order is kept" "$(seq 200 | sed p | cksum)" \
	"$(grep -v '^lab: vm' "$tmp/out" | cksum)"
head -c 300000 /dev/urandom >"$tmp/bytes"
run cat <"$tmp/bytes" >"$tmp/out"
try "stdin is exact, both ways" cmp "$tmp/bytes" "$tmp/out"
odd=(a 'b  c' "d'e" 'f"g' '' $'h\ni\n' '*' '$HOME' '\n' '-n' $'\t' 'ü')
want "odd arguments" "$(printf '[%s]' "${odd[@]}" | cksum)" \
	"$(run printf '[%s]' "${odd[@]}" | cksum)"
want "variables on the list pass" $'x  y\nz' "$(SERVER_ARGS=$'x  y\nz' run sh -c 'printf %s "$SERVER_ARGS"')"
want "lab/lab run, inside: just the command" hi "$(run lab/lab run lab/lab run echo hi)"

echo old >file
run cat file >/dev/null
echo newer >file
want "a file that was changed here" newer "$(run cat file)"
echo new >file.new && mv file.new file
want "a file that was replaced here" new "$(run cat file)"
# What is installed is kept by the guest, until it is replaced.
mkdir tests && write_script tests/say 'exec "$1"'
program=/usr/local/bin/lab-test.$$
for what in once again; do
	[ -w /usr/local/bin ] || { echo "skip a program that is installed: /usr/local/bin is not ours" && break; }
	write_script "$program.new" "echo installed $what" && mv "$program.new" "$program"
	want "a program that was installed $what" "installed $what" "$(run tests/say "$program")"
	want "the same, kept" "installed $what" "$(run tests/say "$program")"
done
rm -f "$program"
behind sh -c 'cat file; echo begun; while grep -q new file; do sleep 0.1; done; echo seen'
await begun && echo changed >file
try "a file that was changed here during a run" await seen
kill -TERM -- -$pid 2>/dev/null
wait $pid
mkdir sub && want "a directory that was made here" "$a/sub" "$(cd sub && timeout 60 ../lab/lab run pwd 2>/dev/null)"

want "lab run yes | head -1" y "$(timeout 20 lab/lab run yes 2>/dev/null | head -n 1)"
for signal in INT TERM KILL; do
	behind sh -c 'echo begun; trap "" HUP TERM; setsid sleep 12345 & sleep 12345'
	await begun
	end_by "$signal"
	[ $signal != KILL ] || within 10 without run.
	want "SIG$signal ends the command in the guest too" 0 "$(run sh -c 'ps ax | grep -c "[s]leep 12345"')"
done
run sh -c 'setsid sleep 12345 & exit 0'
want "a run leaves no process in the guest" 0 "$(run sh -c 'ps ax | grep -c "[s]leep 12345"')"

# A terminal: its size, ^C, tab, exit status. Behind a ^C bash may throw away what comes next.
type_at_it() { # what it says to 3 is typed
	local prompt typed answer
	while IFS='|' read -r prompt typed answer; do
		{ await "$prompt" && printf '%b\n' "$typed" >&3 && await "$answer"; } || return
	done <<-'END'
		# $|stty size|^33 101
		# $|sh -c 'echo begun; sleep 1000'|^begun
		^begun|\003|# $
		# $|echo status $?|^status
		# $|echo lab/choo\t|^lab/choose
		# $|exit 7|^exit
	END
}
: >"$tmp/out"
type_at_it 3>&1 >"$tmp/typist" | TERM=dumb timeout 300 script -qefc \
	'stty rows 33 cols 101; exec lab/lab shell' /dev/null >"$tmp/out" 2>&1
want "shell: its exit status" 7 $?
cat "$tmp/typist"
sed -i 's/\r//g' "$tmp/out"
try "shell: the window's size" grep -qx '33 101' "$tmp/out"
try "shell: ^C is for the command" grep -qx 'status 130' "$tmp/out"
try "shell: tab completes" grep -qx 'lab/choose' "$tmp/out"

# What the README and docs/nic.md tell people to type there.
{
	sed -n 's/^| `make lab-shell` | //p' "$OLDPWD/README.md" | grep -o '`[^`]*`' | tr -d '`'
	sed -n '/^### Commands that the lab/,$s/^\$ //p' "$OLDPWD/docs/nic.md"
} >"$tmp/typed"
wrong=''
while IFS= read -r command; do
	[[ $command != tcpdump* ]] || command="(while :; do ibv_rc_pingpong -d rxe0 -g 0 & sleep 0.3; ibv_rc_pingpong -d rxe1 -g 0 localhost
		wait; done) >/dev/null 2>&1 & timeout 60 $command | grep -q 'UDP, length'"
	run bash -c "$command" </dev/null >/dev/null || wrong+="$command; "
done <"$tmp/typed"
want "the commands of the README and of docs/nic.md: $(grep -c . "$tmp/typed")" "12 " \
	"$(grep -c . "$tmp/typed") $wrong"
by_hand=$(sed -n '/run a pair by hand/,/^In the/s/^    //p' "$OLDPWD/docs/lab.md")
want "the pair that docs/lab.md has run by hand" "client: PASS server: PASS" \
	"$(run bash -c "$by_hand; wait" | grep -o '.*: PASS' | sort | xargs)"

# ---- the other kinds, in there ----

inner() { run env -u LAB_IN LAB_STATE=/tmp/state "$@"; }
out=$(inner LAB=host lab/lab run sh -c 'echo $LAB_KIND; ls /sys/class/infiniband | wc -l
	ibv_devinfo -d $DEV_SERVER | grep -c PORT_ACTIVE; exit 5')
want "host: exit status" 5 $?
want "host: two devices of its own" "host 4 1" "$(xargs <<<"$out")"
want "host: they are gone" "rxe0 rxe1" "$(run ls /sys/class/infiniband | xargs)"
out=$(inner LAB=host sh -c "exec 2>&1"'
	lab/lab up; lab/lab up; lab/lab run sh -c "echo \$DEV_CLIENT"
	lab/lab down; lab/lab down; ls /sys/class/infiniband /sys/class/net')
want "host: up and down, twice" "up: already run down nothing lo rxe0 rxe1 veth0 veth1" \
	"$(sed -n 's/^lab: \(up:\|already\|down\|nothing\).*/\1/p; s/^lab[0-9a-f]*_1$/run/p; /^\(rxe\|veth\|lo\)/p' \
		<<<"$out" | awk '/up:|already|run|down|nothing/ { print; next } { print | "sort" }' | xargs)"
# The command kills its lab; who cleans up must not end with the run around it.
out=$(inner LAB=host sh -c 'lab/lab run sh -c "ls /sys/class/infiniband | wc -l; kill -KILL \$PPID"
	until [ "$(ls /sys/class/infiniband | xargs)" = "rxe0 rxe1" ]; do sleep 0.1; done; echo gone')
want "host: nothing is left after SIGKILL" "4 gone" "$(xargs <<<"$out")"
want "device: rxe0 is the server's, rxe1 the client's" "device rxe0 rxe1" \
	"$(inner LAB= lab/lab run sh -c 'echo $LAB_KIND $DEV_SERVER $DEV_CLIENT')"
want "device: DEV=rxe1 is both" "device rxe1 rxe1" \
	"$(inner LAB= DEV=rxe1 lab/lab run sh -c 'echo $LAB_KIND $DEV_SERVER $DEV_CLIENT')"
inner LAB= DEV=rxe0 lab/lab run build/pair build/05_fence/server build/05_fence/client >"$tmp/out"
want "device: lesson 05 passes, and the first line and the server say that LAB=vm shows more" "2 1 1" \
	"$(grep -c ': PASS ' "$tmp/out") $(grep -c '^lab: device .*LAB=vm' "$tmp/err") $(grep -c '^server: # .*LAB=vm' "$tmp/err")"
run ip link set veth1 down
inner LAB= DEV=rxe1 lab/lab run true
want "device: DEV= is not active: exit 125" 125 $?

lab/lab down 2>/dev/null
want "down" 0 $?
gone "nothing is left of it"
lab/lab up 2>/dev/null && rm -rf build/lab/up
want "down again: build/ was removed" "lab: nothing is up" "$(lab/lab down 2>&1)"
gone "nothing is left of it"
[ -z "$failed" ]
