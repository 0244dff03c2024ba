# shellcheck shell=bash disable=SC2034 # for those who source this
# tests/lib.sh - what the tests share. Sourced, in the checkout's root.
. course/lib.sh

# clone_to DIR [OPTION...]: a clone of this checkout, whosever it is. (git asks the side
# that is cloned, which does not see the variables above.)
clone_to() { git clone -q -u "git -c safe.directory='*' upload-pack" "${@:2}" . "$1"; }

# The lessons in two parts for two labs. In make test the first part has the tests of the
# lab in front, so it is the smaller one; the other one has all that are not in it.
half_1=() half_2=()
for lesson in [0-9][0-9]_*; do
	case $lesson in
	0[1-38]_*) half_1+=("$lesson") ;;
	*) half_2+=("$lesson") ;;
	esac
done

# The lab's own two interfaces: find_wire sets $net0, the server's, and $net1; then
# bad_wire FAULT is a fault of netem in both directions, until good_wire.
find_wire() {
	read -r net0 <"/sys/class/infiniband/$DEV_SERVER/ports/1/gid_attrs/ndevs/0"
	read -r net1 <"/sys/class/infiniband/$DEV_CLIENT/ports/1/gid_attrs/ndevs/0"
}
bad_wire() { # shellcheck disable=SC2086 # several words
	tc qdisc add dev "$net0" root netem $1 && tc qdisc add dev "$net1" root netem $1
}
good_wire() {
	tc qdisc del dev "$net0" root
	tc qdisc del dev "$net1" root
} 2>/dev/null

# ok NAME / not_ok NAME WHY: one test, one line.
ok() { echo "ok $1"; }
not_ok() {
	echo "not ok $1${2:+: $2}"
	# shellcheck disable=SC2034 # those who source this look at it
	failed=1
}

# try NAME COMMAND...: passes if the command does; else shows what it said.
try() {
	local name=$1 start=$SECONDS said
	shift
	if said=$("$@" 2>&1); then
		ok "$name"
	else
		echo "    ${said//$'\n'/$'\n'    }"
		not_ok "$name"
	fi
	[ $((SECONDS - start)) -lt 10 ] || echo "    ($((SECONDS - start)) s)"
}

# For a test that looks for several faults of one thing: begin with faults=, call
# wrong TEXT for each, and end with verdict NAME.
wrong() { faults+="$1; "; }
verdict() {
	if [ -z "$faults" ]; then ok "$1"; else not_ok "$1" "${faults%; }"; fi
}

# built FILE...: are they there? What could not be built has failed by name already
# (tests/run), and nothing that needs it is judged.
built() {
	local f
	for f; do
		[ -e "$f" ] || { echo "# not judged, missing: $f" && return 1; }
	done
}

# includes_of FILE: sets includes to the compiler's options for it, as the Makefile does:
# common/ and its lesson, and what judges/ has for that.
includes_of() {
	local lesson=${1#judges/}
	lesson=${lesson%%/*}
	includes=(-Icommon -Ijudges)
	[ ! -d "$lesson" ] || includes+=("-I$lesson" "-Ijudges/$lesson")
}
