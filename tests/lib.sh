# shellcheck shell=bash disable=SC2034 # for those who source this
# tests/lib.sh - what the tests share. Sourced, in the checkout's root.
. course/lib.sh
set -u
failed=
slowly() { PAIR_LIMIT=500 SERVER_ARGS='-t 40' CLIENT_ARGS='-t 40' "$@"; } # what is instrumented

# clone_to DIR [OPTION...]: a clone of this checkout, whosever it is. (git asks the side
# that is cloned, which does not see the variables of course/lib.sh.)
clone_to() { git clone -q -u "git -c safe.directory='*' upload-pack" "${@:2}" . "$1"; }

# The lessons in three parts, for three labs; the second one has all that are not in the first.
parts=("$(echo 0[0-3]_*)" "" "$(echo 04_* 08_* 11_*)")
for lesson in [0-9][0-9]_*; do
	[[ " ${parts[*]} " == *" $lesson "* ]] || parts[1]+=" $lesson"
done

# find_wire: the lab's own two interfaces, $net0 is the server's, and $net1; false if the lab
# did not make them. bad_wire FAULT: a fault of netem in both directions, until good_wire.
find_wire() {
	case $LAB_KIND in
	vm | host) ;;
	*) echo "skip a bad wire: only on interfaces that the lab made" && return 1 ;;
	esac
	net0=$(net_of "$DEV_SERVER") && net1=$(net_of "$DEV_CLIENT")
}
bad_wire() { # shellcheck disable=SC2086 # several words
	tc qdisc add dev "$net0" root netem $1 && tc qdisc add dev "$net1" root netem $1
}
good_wire() {
	tc qdisc del dev "${net0-}" root
	tc qdisc del dev "${net1-}" root
} 2>/dev/null

# ok NAME / not_ok NAME WHY: one test, one line, and how long it took if that was long.
# result NAME [WHY]: ok if nothing speaks against it. check NAME WHY COMMAND...: ok if the
# command succeeds, else WHY.
since=$SECONDS
ok() { echo "ok $1" && took; }
not_ok() {
	echo "not ok $1${2:+: $2}"
	failed=1
	took
}
result() { if [ -z "${2-}" ]; then ok "$1"; else not_ok "$1" "$2"; fi; }
check() { if "${@:3}"; then ok "$1"; else not_ok "$1" "$2"; fi; }
took() {
	[ $((SECONDS - since)) -lt 10 ] || echo "    ($((SECONDS - since)) s)"
	since=$SECONDS
}

# try NAME COMMAND...: passes if the command does; else shows what it said.
try() {
	local said
	said=$("${@:2}" 2>&1) && ok "$1" && return
	echo "    ${said//$'\n'/$'\n'    }"
	not_ok "$1"
}

# says STATUS PATTERN COMMAND...: for try. Is that its status, and that its last line on stdout?
says() {
	local said rc
	said=$("${@:3}")
	rc=$?
	# shellcheck disable=SC2053 # patterns
	[[ $rc:${said##*$'\n'} == $1:$2 ]] || { echo "status $rc: $said" && false; }
}

# about NAME COMMAND...: its tests are of that; failed if it fails.
about() {
	"${@:2}" 2>&1 | sed -u "s/^\(not \)\?ok /&$1: /"
	[ "${PIPESTATUS[0]}" = 0 ] || failed=1
}

# must_fail COMMAND...: a negative control. It must not pass because nothing was run.
must_fail() {
	local said
	said=$("$@" 2>&1)
	case $?:$said in
	0:*) echo "it did not fail" && return 1 ;;
	12[567]:* | *"could not start"*) echo "$said" && return 1 ;;
	esac
}

# For a test that looks for several faults of one thing: begin with faults=, call
# wrong TEXT for each, and end with verdict NAME.
wrong() { faults+="$1; "; }
verdict() { result "$1" "${faults%; }"; }

# last_lines FILE...: on one line, for a WHY.
last_lines() { tail -qn 1 "$@" 2>/dev/null | paste -sd '|'; }

# write_script FILE LINE...
write_script() {
	printf '%s\n' '#!/bin/sh' "${@:2}" | install /dev/stdin "$1"
}

# run_alone DIR COMMAND: in the lab; what it prints, and its status, are then DIR/server.*.
run_alone() {
	mkdir -p "$1"
	ask_lab "$1" "$2 >\"\$dir/server.out\" 2>\"\$dir/server.err\"; echo \$? >\"\$dir/server.rc\""
}
