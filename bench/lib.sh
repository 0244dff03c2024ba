# shellcheck shell=bash
# bench/lib.sh - one measurement of the pair, timed or counted. Sourced after tests/lib.sh
# in the checkout's root, by bench/run and tests/bench.

bench=build/bench
mkdir -p $bench/run $bench/counted
wait_s=20 # the longest single wait of both programs

# Under strace both sides print, at their end, how often they made these system calls: what
# verbs become on soft-RoCE. Posting is a write, registering an ioctl or a write, fetching an
# event a read; a server that sleeps for it (-e 1) does so in poll.
calls=write,ioctl,read
for role in server client; do
	printf '#!/bin/sh\nexec strace -f -c --seccomp-bpf -e trace=%s build/bench/%s "$@"\n' \
		$calls,poll $role >$bench/counted/$role
	chmod +x $bench/counted/$role
done

# pair DIR OPTION...: runs it, and sets r[KEY] to what its line "result" says. False, with
# what both said, if it failed.
declare -A r
pair() {
	local word
	CLIENT_ARGS="-t $wait_s ${*:2}" SERVER_ARGS="-t $wait_s" \
		run_pair $bench/run "$1/server" "$1/client"
	r=()
	while read -r word; do
		r[${word%%=*}]=${word#*=}
	done < <(sed -n 's/^client: # result //p' $bench/run/client.err | tr ' ' '\n')
	[ "$(cat $bench/run/{client,server}.rc)" != "0"$'\n'"0" ] || [ -z "${r[op]-}" ] || return 0
	echo "bench: client ${*:2}:" >&2
	tail -qn 2 $bench/run/{client,server}.{out,err} >&2
	return 1
}

# made ROLE NAME,...: how often it made these system calls.
made() {
	awk -v names=",$2," 'index(names, "," $NF ",") && $4 ~ /^[0-9]+$/ { n += $4 }
		END { print n + 0 }' "$bench/run/$1.err"
}

# count N OPTION...: the same with N messages, and c[] gets what it cost, so far.
declare -A c
count() {
	local role
	in_lab bench/capture start || return
	if ! pair $bench/counted -n "$@"; then
		in_lab bench/capture stop >/dev/null
		return 1
	fi
	c[packets]=$(in_lab bench/capture stop) || { echo "bench: ${c[packets]}" >&2 && return 1; }
	for role in client server; do
		c[${role}_calls]=$(made $role $calls)
		c[${role}_completions]=${r[${role}_completions]}
	done
	[ "${r[events]}" = 0 ] || c[server_calls]=$(made server $calls,poll)
}

# per_message OPTION...: p[KEY] is what one message costs, exactly: between a run of 128
# and one of 256 all else, connecting, registering, printing, is the same.
# shellcheck disable=SC2034 # for those who source this
declare -A p
per_message() {
	local key
	local -A first
	count 128 "$@" || return
	for key in "${!c[@]}"; do first[$key]=${c[$key]}; done
	count 256 "$@" || return
	for key in "${!c[@]}"; do
		# shellcheck disable=SC2034
		p[$key]=none
		# shellcheck disable=SC2034
		[ "${c[$key]}" = none ] || p[$key]=$(by_128 $((c[$key] - first[$key])))
	done
}
by_128() { awk -v n="$1" 'BEGIN { printf "%.8g\n", n / 128 }'; }
