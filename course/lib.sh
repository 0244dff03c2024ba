# shellcheck shell=bash
# course/lib.sh - what the commands of a student share, and the tests. Sourced in the root.
#
# A run of a pair is a directory: server.out, server.err, server.rc, client.*.

# In what language the user reads; only tell depends on it.
user_language=${LC_ALL:-${LC_MESSAGES:-${LANG-}}}

# As in lab/lab: what is in sbin is found, and nothing depends on the language. And git
# need not trust a checkout that is somebody else's (in a container) to be read.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin LC_ALL=C.UTF-8
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

# scratch COMMAND...: $tmp is a directory until the script ends; first COMMAND is done then.
scratch() {
	tmp=$(mktemp -d) || exit
	at_end=("$@")
	trap '"${at_end[@]}"; rm -rf "$tmp"' EXIT
}

# within SECONDS COMMAND...: until it succeeds.
within() {
	local end=$((SECONDS + $1))
	until "${@:2}"; do
		[ $SECONDS -le $end ] || return
		sleep 0.05
	done
}

# net_of DEVICE: its network interface, if it has one.
net_of() { cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/0" 2>/dev/null; }

# visit_lab: from now on in_lab and run_pair use one visit to the lab (course/in-lab), and
# so do the checkers that we call: they inherit 8 to ask, and 9 to hear. leave_lab ends it.
visit_lab() {
	[ -z "${LAB_IN-}${LAB_VISIT-}" ] || return 0
	local fifos
	fifos=$(mktemp -d) || exit
	mkfifo "$fifos/ask" "$fifos/answer"
	(trap - INT && exec lab/lab run course/in-lab) <"$fifos/ask" >"$fifos/answer" & # else it ignores SIGINT
	export LAB_VISIT=$!
	exec 8>"$fifos/ask" 9<"$fifos/answer"
	rm -rf "$fifos"
}
leave_lab() {
	[ -n "${LAB_VISIT-}" ] || return 0
	exec 8>&- 9<&-
	wait "$LAB_VISIT"
	unset LAB_VISIT
}
# one_machine: what runs next has both ends in one program, so HOSTS=2 does not change where.
one_machine() { [ "${LAB-}" != hosts ] || unset LAB LAB_VISIT; export LAB_ONE=vm; }

# ask_lab DIR COMMAND: what it leaves in the lab's $dir is then in DIR, and what it
# printed in DIR/said. Returns its status; ends the script if there is no answer.
ask_lab() {
	local name='' n lines alone=${LAB_VISIT-yes}
	visit_lab
	(trap '' PIPE && echo "$2" >&8) 2>/dev/null # it may be gone
	while read -r -u 9 name n && [ "$name" != end ]; do
		: >"$1/$name"
		[ "$n" != 0 ] || continue
		mapfile -t -n "$n" -u 9 lines
		printf '%s\n' "${lines[@]}" >"$1/$name"
	done
	[ "$alone" != yes ] || leave_lab
	[ "$name" = end ] || { echo "the lab gave no answer: type make doctor" && exit 125; }
	return "$n"
}

# in_lab COMMAND ARG...: run it there, print what it printed, return its status.
in_lab() {
	local said rc
	if [ -n "${LAB_IN-}" ]; then
		"$@"
		return
	elif [ -z "${LAB_VISIT-}" ]; then
		lab/lab run "$@" </dev/null
		return
	fi
	said=$(mktemp -d) || return 125
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
	[ "${NIC-}" != strict ] || grep -h '^strict: [A-Z]' "$1"/*.err >&2
	return $rc
}

# could_start DIR: did both programs of that run start? If not, there is nothing to judge.
could_start() {
	! grep -q -s -x -E '12[67]' "$1"/*.rc ||
		{ echo "the lab could not start a program: type make, then make doctor" && false; }
}

# transcript README ROLE: what its first console block promises of a role.
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

# tell FILE KEY [LABEL]: that for the user, behind LABEL: what KEY.zh says, line by line, to
# one who reads Chinese; else the English, in lines of at most 78 columns.
tell() {
	local text=
	[[ $user_language != zh* ]] || text=$(header "$1" "$2.zh")
	if [ -n "$text" ]; then
		echo "${3-}$text"
	else
		echo "${3-}$(header "$1" "$2")" | fmt -w 78
	fi
}

# ended DIR ROLE LINE: did it exit as a program does that says LINE last?
ended() {
	local rc
	rc=$(cat "$1/$2.rc")
	case $3 in *': FAIL '*) [ "$rc" != 0 ] ;; *) [ "$rc" = 0 ] ;; esac && return
	echo "the $2 said \"${3#*: }\" and exited with $rc"
	return 1
}

# as_wanted DIR ROLE LABEL: did the role print DIR/ROLE.want, and exit as its last
# line says? Shows the difference.
as_wanted() {
	local bad=0
	[ -s "$1/$2.want" ] || { echo "$3 promises nothing of the $2" && bad=1; }
	diff -u --label "$3" --label "the $2" "$1/$2.want" "$1/$2.out" || bad=1
	ended "$1" "$2" "$(tail -n 1 "$1/$2.want")" || bad=1
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

# ours FILE: FILE as it was handed out, or when a judge or lesson's page last changed, if git has it.
# changed_here FILE: does it differ? A student's exercise does.
shipped() { : "${base:=$(git rev-parse -q --verify refs/tags/shipped ||
	git log -1 --format=%H -- judges '*/README*.md')}"; } 2>/dev/null
ours() { shipped && git show "$base:./$1" 2>/dev/null; }
changed_here() { local was && shipped && was=$(git rev-parse "$base:./$1") && [ "$was" != "$(git hash-object "$1")" ]; } 2>/dev/null
