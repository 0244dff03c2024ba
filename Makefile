# SPDX-License-Identifier: MIT
# make help lists the targets. A new lesson directory gets its targets, and
# its place in the tests, by being there.

CFLAGS ?= -O1 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -MMD -MP
LDLIBS := -libverbs -pthread
B := build
Q := $(if $(V),,@)

LESSONS := $(wildcard [0-9][0-9]_*)
COMMON := $(patsubst %.c,$B/%.o,$(wildcard common/*.c common/*/*.c))
# A file of a lesson that has a header of its name is a part of all its programs; each of
# the others is a program.
PARTS := $(filter $(patsubst %.h,%.c,$(wildcard [0-9][0-9]_*/*.h)),$(wildcard [0-9][0-9]_*/*.c))
PROGRAMS := $(patsubst %.c,$B/%,$(filter-out $(PARTS),$(wildcard [0-9][0-9]_*/*.c)))
PAIRS := $(foreach l,$(LESSONS),$B/$l/server $B/$l/client)
WORK := $(patsubst %.c,$B/%,$(wildcard [0-9][0-9]_*/exercises/*.c [0-9][0-9]_*/solutions/*.c))
PATCHES := $(wildcard [0-9][0-9]_*/breaks/*.patch)
BREAKS := $(patsubst %.patch,$B/%/built,$(PATCHES))
# Faulty lessons that the tests must see: tests/controls/NN_lesson/what.patch; one that
# is faulty on a bad wire only; and some that put something else on the wire.
CHANGED := $(wildcard $(foreach d,controls lossy wire-controls store-controls,tests/$d/*/*.patch))
CONTROLS := $(CHANGED:tests/%.patch=$B/%/built)
ASAN := -fsanitize=address,undefined -fno-sanitize-recover -fno-omit-frame-pointer

# HOSTS=2: the server in one virtual machine, the client in another.
ifeq ($(HOSTS),2)
export LAB := hosts
else ifneq ($(filter-out 1,$(HOSTS)),)
$(error HOSTS=$(HOSTS): 1 or 2)
endif

# make need not look for rules of its own, nor for one that makes a .d file.
MAKEFLAGS += -r
%.d: ;

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all everything names help deps deps-tools doctor lab-up lab-down lab-shell atomic-write bench illustrated pictures book progress handout bench-record \
	test test-faults test-fresh test-arm64 test-pages soak lint fmt clean

all: $(PROGRAMS) $B/pair ## build every lesson

# A program sees common/ and its lesson; an exercise and its driver also drivers/.
includes = -Icommon -Idrivers $(foreach l,$(filter $(LESSONS),$(subst /, ,$1)),-I$l -Idrivers/$l)

$B/%.o: %.c
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) $(call includes,$<) -c $< -o $@

$B/%: $B/%.o $(COMMON)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(foreach l,$(LESSONS),$(foreach b,$B $B/asan $B/tsan,$(eval \
	$(patsubst $B/%,$b/%,$(filter $B/$l/%,$(PROGRAMS))): $(patsubst %.c,$b/%.o,$(filter $l/%,$(PARTS))))))

# What runs a server and a client side by side.
$B/pair: lab/pair.c
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $< -o $@

# The same with sanitizers: build/asan/..., build/tsan/...
define sanitized
$B/$1/%.o: %.c
	@mkdir -p $$(@D)
	$Q$$(CC) $$(CFLAGS) $2 $$(call includes,$$<) -c $$< -o $$@
$(COMMON:$B/%=$B/$1/%):
$B/$1/%: $B/$1/%.o $(COMMON:$B/%=$B/$1/%)
	$Q$$(CC) $$(CFLAGS) $2 $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
endef
$(eval $(call sanitized,asan,$(ASAN)))
$(eval $(call sanitized,tsan,-fsanitize=thread))

# An exercise and its solution are a file each; the rest of the program is the driver.
DRIVERS := $(wildcard drivers/[0-9]*/*.c)
define driven
$B/$1/exercises/$2 $B/$1/solutions/$2: $B/$1/%/$2: $B/$1/%/$2.o $B/drivers/$1/$2.o $B/drivers/driver.o $(COMMON)
	$Q$$(CC) $$(CFLAGS) $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
endef
$(foreach d,$(DRIVERS),$(eval $(call driven,$(word 2,$(subst /, ,$d)),$(basename $(notdir $d)))))
# Wrong answers, each with the verdict that it must get.
ANSWERS := $(wildcard tests/wrong/*/*/*.patch)
WRONG := $(ANSWERS:tests/%.patch=$B/%/built)

$B/unit: $B/tests/unit.o $(COMMON)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@
$B/asan/unit: $B/asan/tests/unit.o $(COMMON:$B/%=$B/asan/%)
	$Q$(CC) $(CFLAGS) $(ASAN) $(LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@

# The pair that measures, and what both its sides do.
BENCH := $B/bench/server $B/bench/client
BOTH := $(patsubst %.c,%.o,$(filter-out %/server.c %/client.c,$(wildcard bench/*.c)))
$(BENCH): $(BOTH:%=$B/%)
$(BENCH:$B/%=$B/asan/%): $(BOTH:%=$B/asan/%)
# A writer and a reader of one record.
CONTENDED := $B/bench/contended/server $B/bench/contended/client

# Any bytes as QP info (libFuzzer is clang's), and peers that break the rules.
FUZZED := tests/fuzz.c common/tcp.c common/plumbing/sockets.c
$B/fuzz: $(FUZZED) common/common.h
	$Qclang -std=gnu11 -D_GNU_SOURCE -g -O1 -Icommon -fno-sanitize-recover=all \
		-fsanitize=fuzzer,address,undefined $(FUZZED) -o $@
$B/store_model $B/rude $B/crowd: $B/%: $B/tests/%.o $B/09_block_store/ask.o $B/09_block_store/lesson.o $(COMMON)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@
$B/peer $B/latency $B/history $B/dies: $B/%: $B/tests/%.o $(COMMON)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Preloaded: a bad disk, and a NIC whose calls fail.
$B/disk.so $B/nic.so: $B/%.so: tests/%.c
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -fPIC -shared $(LDFLAGS) $< -ldl -o $@
# The protocol of lesson 10 in all orders, and its checksum: no device, no common/.
$B/model: $B/tests/model.o $B/tests/search.o
$B/torn: $B/tests/torn.o
$B/model $B/torn:
	$Q$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

# What has threads.
THREADS := $(foreach l,$(sort $(foreach f,$(shell grep -l pthread_create [0-9]*/*.c),$(dir $f))),$B/tsan/$lserver $B/tsan/$lclient)

# All that the tests run; names prints it, a word each.
ILLUSTRATED := $B/docs/illustrated/server $B/docs/illustrated/client
EVERYTHING := $(PROGRAMS) $B/pair $(PROGRAMS:$B/%=$B/asan/%) $(BENCH) $(CONTENDED) $(patsubst $B/%,$B/asan/%,$(BENCH) $(CONTENDED)) $(ILLUSTRATED) $(THREADS) $(WORK) $(BREAKS) $(CONTROLS) $(WRONG) \
	$B/unit $B/asan/unit $B/fuzz $B/peer $B/latency $B/store_model $B/rude $B/crowd $B/history $B/dies $B/disk.so $B/nic.so $B/model $B/torn
everything: $(EVERYTHING)
names:
	@echo $(EVERYTHING)

# (These only call a script, and reading 500 files takes half a second. For run-NN those of
# its lesson will do.)
ifneq ($(filter-out ex-% hint-% reset-% progress lab-% help,$(or $(MAKECMDGOALS),all)),)
DEPS ?= $(if $(filter-out run-%,$(or $(MAKECMDGOALS),all)),$B,$B/common $(wildcard $(MAKECMDGOALS:run-%=$B/%_*)))
-include $(shell find $(DEPS) \( -path $B/kernel -o -path $B/next -o -path $B/roots \) -prune \
	-o -type f -name '*.d' -print 2>/dev/null)
endif

help: ## this list
	@sed -n 's/^\([a-z][a-zA-Z.-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 16
	@echo '  run-NN        run lesson NN: $(foreach l,$(LESSONS),$(firstword $(subst _, ,$l)))'
	@echo '                SERVER_ARGS= and CLIENT_ARGS= are passed on;'
	@echo '                HOSTS=2: server and client in two virtual machines'
	@echo '  check-NN      run it and compare with its README'
	@echo '  break-NN[.K]  break rule K (or every rule) of lesson NN'
	@echo '                break-NN.K asks first what you expect; ASK=no: it does not'
	@echo '  trace-NN[.K]  what crosses the wire then, packet by packet, and build/trace/NN.pcap'
	@echo '                for Wireshark; DELAY=10: the server answers 10 ms late'
	@echo '  check-trace-NN run it and compare with "On the wire" in its README'
	@echo '  ex-NN.K       is exercise K of lesson NN solved?'
	@echo '  hint-NN.K     a hint for it'
	@echo '  reset-NN.K    the exercise as it was, after asking'

# What the targets with a lesson's number do, and for which numbers.
num = $(firstword $(subst _, ,$(notdir $1)))
define lesson_targets
.PHONY: run-$(num) check-$(num) break-$(num)
run-$(num) check-$(num) trace-$(num) check-trace-$(num): $B/pair
run-$(num): $B/$1/server $B/$1/client
	@lab/paint lab/lab run $B/pair $B/$1/server $B/$1/client
check-$(num): $B/$1/server $B/$1/client
	@tests/check $1
.PHONY: trace-$(num) check-trace-$(num)
check-trace-$(num): $B/$1/server $B/$1/client
	@tests/trace-check $1
trace-$(num): $B/$1/server $B/$1/client
	@lab/trace $(num)$(addprefix +,$(DELAY)) $B/$1/server $B/$1/client
break-$(num): $(foreach p,$(filter $1/%,$(PATCHES)),break-$(num).$(call num,$p))
endef
# A break asks for a prediction if it is the only target that was named.
define break_targets
.PHONY: break-$2.$(num)
$B/$(1:.patch=)/built: $1 $(COMMON) $B/$3/server $B/$3/client
	@tests/build-break $1 $(COMMON)
break-$2.$(num) trace-$2.$(num): $B/pair
break-$2.$(num): $B/$(1:.patch=)/built
	@$$(if $$(filter-out $$@,$$(MAKECMDGOALS)),ASK=no )tests/break $1
.PHONY: trace-$2.$(num)
trace-$2.$(num): $B/$(1:.patch=)/built
	@lab/trace $2.$(num)$(addprefix +,$(DELAY)) $B/$(1:.patch=)/server $B/$(1:.patch=)/client
endef
define control_targets
$B/$(1:tests/%.patch=%)/built: $1 $(COMMON) $(foreach r,server client,$B/$(notdir $(patsubst %/,%,$(dir $1)))/$r)
	@tests/build-break $1 $(COMMON)
endef
define wrong_targets
$B/$(1:tests/%.patch=%)/built: $1 $B/$(dir $(patsubst %/,%,$(dir $(1:tests/wrong/%=%))))solutions/$(notdir $(patsubst %/,%,$(dir $1)))
	@tests/build-break $1 $(COMMON)
endef
define exercise_targets
.PHONY: ex-$2.$(num) hint-$2.$(num) reset-$2.$(num)
ex-$2.$(num):
	@lab/paint tests/exercise $1
hint-$2.$(num):
	@tests/exercise --hint $1 $(if $(MORE),2)
reset-$2.$(num):
	@tests/exercise --reset $1
endef
of = $(foreach f,$2,$(eval $(call $1,$f,$(call num,$(firstword $(subst /, ,$f))),$(firstword $(subst /, ,$f)))))
$(call of,lesson_targets,$(LESSONS))
$(call of,break_targets,$(PATCHES))
$(call of,control_targets,$(CHANGED))
$(foreach f,$(ANSWERS),$(eval $(call wrong_targets,$f)))
$(call of,exercise_targets,$(wildcard [0-9][0-9]_*/exercises/*.c))

run-% check-% break-% trace-% ex-% hint-% reset-%:
	@echo "there is no $@: make help lists what there is" >&2; exit 2

deps: ## install what is needed, by package name
	@lab/deps
deps-tools: ## the same, and what only make bench, book and test-pages need
	@lab/deps more
doctor: ## check what a run needs, and say how to fix it
	@lab/lab doctor
lab-up: ## keep the lab running, so that the next run takes a second
	@lab/lab up
lab-down: ## end it
	@lab/lab down
lab-shell: ## a shell inside the lab: ibv_devinfo, rdma, tcpdump, tc
	@lab/lab shell

atomic-write: $B/06_atomics/atomic_write ## lesson 06's second program
	@lab/paint lab/lab run sh -c '"$$0" $${DEV_CLIENT:+-d "$$DEV_CLIENT"} || test $$? = 77' $<

illustrated: $B/pair $(ILLUSTRATED) ## docs/illustrated.html anew, from a run
	@LAB=$(filter-out hosts,$(LAB)) lab/trace -q illustrated $(ILLUSTRATED)
	@docs/illustrated/page $B/trace/illustrated.pcap >$B/illustrated.html
	@cp $B/illustrated.html docs

pictures: ## draw the packets of each lesson (wire.svg), as its README shows them
	@for l in $(LESSONS); do lab/picture $$l/README.md >$$l/wire.svg || exit; done

bench: $B/pair $(BENCH) $(CONTENDED) ## what each technique costs, and perftest beside it: five minutes
	@bench/run $(GROUPS)
bench-record: bench ## and put that run into docs/performance.md
	@bench/record

book: ## the whole course as one page and as PDF, in build/book
	@docs/book/make

progress: ## which exercises pass now, and which is the next
	@lab/paint tests/progress
handout: ## an archive of all this for students, without the solutions
	@tests/handout

test: ## the tests, about six minutes
	@tests/run
test-faults: ## only what goes wrong around the programs: peers, wires, machines
	@tests/run faults
test-fresh: ## the first two commands, in minimal roots of Debian 12 and 13 (root only)
	@tests/fresh
test-arm64: ## lessons, breaks and solutions on arm64, which is emulated
	@tests/arm64
test-pages: ## spelling, Markdown, and the book and docs/illustrated.html in a browser
	@tests/pages
soak: ## all of it at length, on other kernels and compilers too: four hours
	@tests/run soak
lint: ## formatting, clang-tidy, cppcheck, shellcheck, clang -Werror
	@tests/lint
fmt: ## format the C files
	clang-format -i $$(git ls-files '*.c' '*.h')
clean: ## remove everything that was built (lab-down comes first)
	@lab/lab down
	rm -rf $B
