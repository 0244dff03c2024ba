# shellcheck shell=bash
# bench/lib.sh - one measurement of the pair, timed or counted. Sourced after course/lib.sh
# in the checkout's root, by bench/run and tests/bench.

bench=build/bench
mkdir -p $bench/run $bench/counted
wait_s=20 # the longest single wait of both programs

# Under strace both sides print, at their end, the system calls that verbs become on
# soft-RoCE. Posting is a write, registering an ioctl or a write, fetching an event a read; a
# server that sleeps for it (-e 1) does so in poll. The sendto of the barriers says where the
# timed part is.
for role in server client; do
	cat >$bench/counted/$role <<-END
		#!/bin/sh
		strace -f --seccomp-bpf -e 'trace=write,ioctl,read,?poll,?ppoll,sendto' -s 1 -o /tmp/bench.\$\$ \
			build/bench/$role "\$@"
		rc=\$?
		cat /tmp/bench.\$\$ >&2
		rm -f /tmp/bench.\$\$
		exit \$rc
	END
	chmod +x $bench/counted/$role
done

# pair DIR OPTION...: runs it, and sets r[KEY] to what its line "result" says. False, with
# what both said, if it failed. The server in DIR/contended takes the options, too.
declare -A r
pair() {
	local word theirs=
	[[ $1 != */contended ]] || theirs=${*:2}
	CLIENT_ARGS="-t $wait_s ${*:2}" SERVER_ARGS="-t $wait_s $theirs" \
		run_pair $bench/run "$1/server" "$1/client"
	r=()
	while read -r word; do
		r[${word%%=*}]=${word#*=}
	done < <(sed -n 's/^client: # result //p' $bench/run/client.err | tr ' ' '\n')
	[ "$(cat $bench/run/{client,server}.rc)" != "0"$'\n'"0" ] || [ ${#r[@]} = 0 ] || return 0
	echo "bench: client ${*:2}:" >&2
	tail -qn 2 $bench/run/{client,server}.{out,err} >&2
	return 1
}

# made ROLE NAME|...: how often it made these system calls between its first two barriers.
made() {
	awk -v names="^[0-9]+ +($2)[(]" '
		/ sendto\(.*"B"/ { barriers++ }
		barriers == 1 && $0 ~ names { n++ }
		END { if (barriers < 2) exit 1; print n + 0 }' "$bench/run/$1.err"
}

# per_message OPTION...: p[KEY] is what one of 256 messages costs, exactly, once
# bench/capture was started in the lab. Packets that were sent twice, because the machine
# was busy and an answer late, are not its cost: then once more.
counted=256
# shellcheck disable=SC2034 # for those who source this
declare -A p
per_message() {
	local packets role n names='write|ioctl|read'
	for _ in {1..12}; do
		pair $bench/counted -n $counted "$@" || return
		packets=$(in_lab bench/capture next) || { echo "bench: $packets" >&2 && return 1; }
		[ "$packets" = again ] || break
	done
	[ "$packets" != again ] || { echo "bench: packets were repeated, each of 12 times" >&2 && return 1; }
	p=([packets]=$packets)
	[ "$packets" = none ] || p[packets]=$(by_count "$packets")
	for role in client server; do
		[ "$role ${r[events]}" != "server 1" ] || names+='|p?poll'
		n=$(made $role "$names") || { echo "bench: no trace of the $role" >&2 && return 1; }
		p[${role}_calls]=$(by_count "$n")
		# shellcheck disable=SC2034
		p[${role}_completions]=$(by_count "${r[${role}_completions]}")
	done
}
by_count() { awk -v n="$1" -v of=$counted 'BEGIN { printf "%.8g\n", n / of }'; }
