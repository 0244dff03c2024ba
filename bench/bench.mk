# What make bench runs: the pair that measures, and what both its sides do; a writer and a
# reader of one record; and the pair whose packets docs/illustrated.html explains.
BENCH := $B/bench/server $B/bench/client
CONTENDED := $B/bench/contended/server $B/bench/contended/client
ILLUSTRATED := $B/docs/illustrated/server $B/docs/illustrated/client
BOTH := $(patsubst %.c,%.o,$(filter-out %/server.c %/client.c,$(wildcard bench/*.c)))
$(BENCH): $(BOTH:%=$B/%)
$(BENCH:$B/%=$B/asan/%): $(BOTH:%=$B/asan/%)

bench: $B/pair $(BENCH) $(CONTENDED) $B/09_block_store/server $B/09_block_store/tool ## what each technique costs, and perftest beside it: six minutes or more
	@bench/run $(GROUPS)
ifeq ($(GROUPS)$(DEV),)
	@bench/stores
endif
bench-record: bench ## and put that run into docs/performance.md
	@bench/record
illustrated: $B/pair $(ILLUSTRATED) ## docs/illustrated.html anew, from a run; and in Chinese
	@LAB=$(filter-out hosts,$(LAB)) course/trace -q illustrated $(ILLUSTRATED)
	@docs/illustrated/page $B/trace/illustrated.pcap >$B/illustrated.html
	@docs/illustrated/page $B/trace/illustrated.pcap zh >$B/illustrated.zh.html
	@cp $B/illustrated.html docs
	@cp $B/illustrated.zh.html docs/zh/illustrated.html
