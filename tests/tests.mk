# What only make test runs, and how it is built.
.PHONY: everything names flags test test-faults test-projects test-fresh test-arm64 test-pages soak lint strict-table

# Faulty lessons that tests must see: "==what" and its patch in tests/X-controls/NN_lesson.patches,
# where X is the test. And wrong answers, each with the verdict that it must get.
CHANGED := $(foreach f,$(wildcard tests/*controls/*.patches),$(patsubst ==%,$(f:.patches=)/%, \
	$(filter-out ==,$(filter ==%,$(file <$f)))))
WRONG := $(wildcard judges/[0-9]*/*.wrong)
SOLUTIONS := $(patsubst %.c,$B/%,$(wildcard judges/[0-9]*/*.solution.c))
CONTROLS := $(CHANGED:tests/%=$B/%/built)
define control_targets
$B/$(1:tests/%=%)/built: $(patsubst %/,%,$(dir $1)).patches $(COMMON) $B/$2/server $B/$2/client
	@course/build-break $$< $(notdir $1)
endef
$(foreach c,$(CHANGED),$(eval $(call control_targets,$c,$(notdir $(patsubst %/,%,$(dir $c))))))
$(WRONG:%=$B/%/built): $B/%/built: % $B/judges/judge.o
	@tests/build-wrong $< $(filter %.o,$^)
$(foreach w,$(WRONG),$(eval $B/$w/built: $(w:.wrong=.solution.c) $B/$(w:.wrong=.o)))

# The same programs with sanitizers: build/asan/..., build/tsan/...
ASAN := -fsanitize=address,undefined -fno-sanitize-recover -fno-omit-frame-pointer
define sanitized
$B/$1/%: override CFLAGS += $2
$B/$1/%.o: %.c
	$$(compile)
$(COMMON:$B/%=$B/$1/%):
$B/$1/%: $B/$1/%.o $(COMMON:$B/%=$B/$1/%)
	$$(link)
$(foreach l,$(LESSONS),
$(patsubst $B/%,$B/$1/%,$(filter $B/$l/%,$(PROGRAMS))): $(patsubst %.c,$B/$1/%.o,$(filter $l/%,$(PARTS))))
endef
$(eval $(call sanitized,asan,$(ASAN)))
$(eval $(call sanitized,tsan,-fsanitize=thread))
# What has threads. (To look takes other programs, and make run-01 need not know.)
THREADED := $(if $(filter everything names,$(MAKECMDGOALS)),$(shell grep -l pthread_create [0-9]*/*.c))
THREADS := $(foreach l,$(sort $(dir $(THREADED))),$B/tsan/$lserver $B/tsan/$lclient)

STORE := $B/store_model $B/rude $B/crowd
$(STORE): $B/09_block_store/ask.o $B/09_block_store/lesson.o
$B/history $B/dies: $B/10_key_value/history.o
ALONE := $(STORE) $B/history $B/dies $B/unit
$(ALONE): $B/%: $B/tests/%.o $(COMMON)
	$(link)
# docs/recipes.md, run: behind tests/recipes.c comes the code of the page.
$B/recipes.c: tests/recipes.py docs/recipes.md tests/recipes.c
	@mkdir -p $(@D)
	@tests/recipes.py >$@
$B/recipes: $B/recipes.c $B/judges/judge.o $(COMMON)
	$Q$(CC) $(CFLAGS) -Icommon $(LDFLAGS) $^ $(LDLIBS) -o $@
$B/unit $B/asan/tests/unit: LDLIBS += -lcmocka
# The protocol of lesson 10 in all orders, and its checksum: no device, no common/.
$B/model $B/torn: LDLIBS :=
$B/model: $B/tests/search.o
$B/model $B/torn $B/broken: $B/%: $B/tests/%.o
	$(link)
# Lesson 10's client with more operations, and those that rest: tests/key-value.
LONG := $(addprefix $B/key-value/,20000 2000 slow leases)
$B/key-value/20000: override CFLAGS += -DOPS=6667
$B/key-value/2000: override CFLAGS += -DOPS=667
$B/key-value/slow: override CFLAGS += -DOPS=8 -DREST=300000
$B/key-value/leases: override CFLAGS += -DOPS=8 -DREST=2000000 '-DMAY_STOP(id)=1'
$(LONG): 10_key_value/client.c $(filter 10_key_value/%,$(PARTS)) $(wildcard 10_key_value/*.h) $(COMMON)
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -Icommon $(LDFLAGS) $(filter %.c %.o,$^) $(LDLIBS) -o $@
# Any bytes as QP info (libFuzzer is clang's).
FUZZED := tests/fuzz.c common/tcp.c common/plumbing/sockets.c 11_rdma_cm/lesson.c
$B/fuzz: $(FUZZED) common/common.h
	$Qclang $(CFLAGS) -Icommon -fno-sanitize-recover=all -fsanitize=fuzzer,address,undefined $(FUZZED) -o $@
# Preloaded: a bad disk, a NIC whose calls fail, and a fault in ibv_rc_pingpong.
$B/disk.so $B/nic.so $B/pingpong.so: $B/%.so: tests/%.c
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -fPIC -shared $(LDFLAGS) $< -ldl -o $@

# All that the tests run; names prints it, a word each. flags prints the compiler's options.
PLAIN := $(PROGRAMS) $(BENCH) $(CONTENDED)
EVERYTHING := $(PLAIN) $(PLAIN:$B/%=$B/asan/%) $(ILLUSTRATED) $(THREADS) $(EXERCISES:%.c=$B/%) $(SOLUTIONS) \
	$(PATCHES:%.patch=$B/%/built) $(CONTROLS) $(WRONG:%=$B/%/built) \
	$(patsubst %.c,$B/%,$(wildcard judges/projects/*.c)) $B/judges/projects/rights.so $B/strict.so $B/strict \
	$B/pair $B/asan/tests/unit $B/fuzz $(ALONE) $(LONG) $B/recipes $B/disk.so $B/nic.so $B/pingpong.so $B/model $B/torn $B/broken
everything: $(EVERYTHING)
names:
	@echo $(EVERYTHING)
flags:
	@echo $(CFLAGS)
tables: ## write the tables of the READMEs anew, from the headers of breaks and exercises
	@tests/static --tables

test: ## the tests, six to eleven minutes
	@tests/run
test-faults: ## only what goes wrong around the programs: peers, wires, machines
	@tests/run faults
test-projects: ## all solutions and wrong programs before the judges of the projects: half an hour
	@tests/run projects
test-fresh: ## the first two commands, in minimal roots of Debian and Ubuntu (root only)
	@tests/fresh
test-arm64: ## lessons, breaks and solutions on arm64, which is emulated
	@tests/arm64
test-pages: ## spelling, Markdown, and the book and docs/illustrated.html in a browser
	@tests/pages
soak: ## all of it at length, on other kernels and compilers too: four hours
	@tests/run soak
lint: ## formatting, gcc -Werror, clang-tidy, cppcheck, shellcheck
	@tests/lint
strict-table: everything ## how many breaks and wrong answers NIC=strict reports
	@tests/strict-table
