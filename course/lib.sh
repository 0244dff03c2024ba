# shellcheck shell=bash
# course/lib.sh - what the commands of a student share, and the tests. Sourced, in the
# checkout's root.
#
# A run of a pair is a directory: server.out, server.err, server.rc, client.*.

# As in lab/lab: what is in sbin is found, and nothing depends on the language. And git
# need not trust a checkout that is somebody else's (in a container) to be read.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin LC_ALL=C.UTF-8
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

# parts_of DIR: sets $parts to the C files that all programs of that lesson share: those
# with a header of the same name. (The Makefile has PARTS.)
parts_of() {
	local f
	parts=()
	for f in "$1"/*.c; do
		[ ! -e "${f%.c}.h" ] || parts+=("$f")
	done
}

# visit_lab: from now on in_lab and run_pair use one visit to the lab (course/in-lab), and
# so do the checkers that we call: they inherit 8, where it is asked, and 9, where it
# answers. leave_lab ends it.
visit_lab() {
	[ -z "${LAB_IN-}" ] || return 0
	visit=$(mktemp -d)
	mkfifo "$visit/ask" "$visit/answer"
	lab/lab run course/in-lab <"$visit/ask" >"$visit/answer" &
	visitor=$!
	exec 8>"$visit/ask" 9<"$visit/answer"
	rm -rf "$visit"
	export LAB_VISIT=1
}
leave_lab() {
	[ -n "${LAB_VISIT-}" ] || return 0
	unset LAB_VISIT
	exec 8>&- 9<&-
	wait "$visitor"
}

# ask_lab DIR COMMAND: what it leaves in the lab's $dir is then in DIR, and what it
# printed in DIR/said. Returns its status; ends the script if there is no answer.
ask_lab() {
	local name='' n lines
	if [ -n "${LAB_VISIT-}" ]; then
		(trap '' PIPE && echo "$2" >&8) 2>/dev/null # it may be gone
	else
		exec 9< <(lab/lab run course/in-lab <<<"$2" || echo "status $?")
	fi
	while read -r -u 9 name n && [ "$name" != end ] && [ "$name" != status ]; do
		: >"$1/$name"
		[ "$n" != 0 ] || continue
		mapfile -t -n "$n" -u 9 lines
		printf '%s\n' "${lines[@]}" >"$1/$name"
	done
	if [ -z "${LAB_VISIT-}" ]; then
		cat <&9 >/dev/null # until the run is over, which would else overlap the next
		exec 9<&-
	fi
	[ "$name" = end ] || { echo "the lab gave no answer${n:+, but status $n}: type make doctor" && exit 125; }
	return "$n"
}

# in_lab COMMAND ARG...: run it there, print what it printed, return its status.
in_lab() {
	local said rc
	if [ -n "${LAB_IN-}" ]; then
		"$@"
		return
	fi
	said=$(mktemp -d)
	ask_lab "$said" "$(printf '%q ' "$@")"
	rc=$?
	cat "$said/said"
	rm -rf "$said"
	return $rc
}

# run_pair DIR SERVER CLIENT: run both in the lab, and keep everything in DIR.
run_pair() {
	local v command='' rc
	mkdir -p "$1"
	if [ -n "${LAB_IN-}" ]; then
		build/pair -o "$1" "$2" "$3"
		return
	fi
	for v in SERVER_ARGS CLIENT_ARGS PAIR_LIMIT PAIR_WIRE; do
		[ -z "${!v+set}" ] || printf -v command '%s%s=%q ' "$command" $v "${!v}"
	done
	# shellcheck disable=SC2016 # for the lab's shell
	printf -v command '%sbuild/pair -o "$dir" %q %q' "$command" "$2" "$3"
	ask_lab "$1" "$command"
	rc=$?
	cat "$1/said" >&2
	return $rc
}

# could_start DIR: did both programs start, in the run in DIR? If not, nothing they said
# can be judged.
could_start() {
	! grep -q -s -x -E '12[67]' "$1"/*.rc ||
		{ echo "the lab could not start a program: type make, then make doctor" && false; }
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

# as_wanted DIR ROLE LABEL: did the role print DIR/ROLE.want, and exit as its last
# line says? Shows the difference.
as_wanted() {
	local bad=0 rc
	rc=$(cat "$1/$2.rc")
	if [ ! -s "$1/$2.want" ]; then
		echo "$3 promises nothing of the $2"
		bad=1
	fi
	diff -u --label "$3" --label "the $2" "$1/$2.want" "$1/$2.out" || bad=1
	case $(tail -n 1 "$1/$2.want") in
	*': FAIL '*) [ "$rc" != 0 ] ;;
	*) [ "$rc" = 0 ] ;;
	esac || { echo "the $2 exited with $rc" && bad=1; }
	return $bad
}

# as_promised DIR README: do both roles' outputs equal the README's transcript?
as_promised() {
	local role bad=0
	for role in server client; do
		transcript "$2" $role >"$1/$role.want"
		as_wanted "$1" $role "$2" || bad=1
	done
	return $bad
}

# ours FILE: what git has of FILE. changed_here FILE: does it differ from that? A
# student's exercise does, and then the tests of how it was shipped skip it.
ours() { git show "HEAD:./$1" 2>/dev/null; }
changed_here() {
	ours "$1" >/dev/null && ! git diff --quiet HEAD -- "$1"
}
