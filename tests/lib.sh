# shellcheck shell=bash
# tests/lib.sh - what the checkers share. Sourced, in the checkout's root.
#
# A run of a pair is a directory: server.out, server.err, server.rc, client.*.

# ok NAME / not_ok NAME WHY: one test, one line.
ok() { echo "ok $1"; }
not_ok() {
	echo "not ok $1${2:+: $2}"
	# shellcheck disable=SC2034 # those who source this look at it
	failed=1
}

# run_pair DIR SERVER CLIENT: run both and keep everything in DIR.
run_pair() {
	mkdir -p "$1"
	lab/pair -o "$1" "$2" "$3"
}

# transcript README ROLE: the lines that the README promises of a role, from
# its first console block.
transcript() {
	awk -v role="$2: " '
		/^```console$/ && !seen { inside = seen = 1; next }
		/^```/ { inside = 0 }
		inside && index($0, role) == 1' "$1"
}

# header FILE KEY: the values of KEY in the header of a break or an exercise,
# one to a line. In C each header line begins with " * ".
header() {
	sed -n -e '/^--- /q' -e '/^ \*\//q' \
		-e 's/^ \* //' -e "s/^$2: *//p" "$1"
}

# same_line ACTUAL SPEC: the last part of SPEC, behind its last ": ", may list
# alternatives with " or ".
same_line() {
	local actual=$1 head=${2%: *} tail=${2##*: }
	while :; do
		[ "$actual" = "$head: ${tail%% or *}" ] && return 0
		case $tail in *' or '*) tail=${tail#* or } ;; *) return 1 ;; esac
	done
}

# last_line DIR ROLE SPEC: did the role end as SPEC says, line and status?
# SPEC has no "role: " in front. Says what is wrong on stdout.
last_line() {
	local got rc
	got=$(tail -n 1 "$1/$2.out")
	rc=$(cat "$1/$2.rc")
	if ! same_line "$got" "$2: $3"; then
		echo "$2 said \"${got#"$2": }\", expected \"$3\""
		return 1
	fi
	case $3 in PASS*) [ "$rc" = 0 ] ;; *) [ "$rc" != 0 ] ;; esac && return 0
	echo "$2 said \"$3\" and exited with $rc"
	return 1
}

# as_promised DIR README: do both roles' outputs equal the README's transcript,
# and did they exit 0? Shows the difference.
as_promised() {
	local role bad=0
	for role in server client; do
		transcript "$2" $role >"$1/$role.want"
		if [ ! -s "$1/$role.want" ]; then
			echo "$2 promises nothing of the $role"
			bad=1
		fi
		diff -u --label "$2" --label "$role" \
			"$1/$role.want" "$1/$role.out" || bad=1
		if [ "$(cat "$1/$role.rc")" != 0 ]; then
			echo "$role exited with $(cat "$1/$role.rc")"
			bad=1
		fi
	done
	return $bad
}
