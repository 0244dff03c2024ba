# SPDX-License-Identifier: MIT
# make help lists the targets. A new lesson directory gets its targets, and its place in the tests, by being there.

CFLAGS ?= -O1 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror
LDLIBS := -libverbs -pthread
B := build
Q := $(if $(V),,@)

# What is in front of the "_": a number, or a letter.
num = $(firstword $(subst _, ,$(notdir $1)))
JUDGED := $(notdir $(wildcard judges/[0-9][0-9]_*)) # and 12_mine is a lesson, but 01_send_recv.bak is not
LESSONS := $(sort $(wildcard $(JUDGED) $(filter-out $(foreach j,$(JUDGED),$(call num,$j)_%),$(wildcard [0-9][0-9]_*))))
COMMON := $(patsubst %.c,$B/%.o,$(wildcard common/*.c common/*/*.c))
PATCHES := $(wildcard $(LESSONS:=/breaks/*.patch))
EXERCISES := $(foreach j,$(filter-out %.solution.c,$(wildcard judges/[0-9]*/[0-9]_*.c)),$(subst /,/exercises/,$(j:judges/%=%))) # the judges know, also when a file is gone
# A file of a lesson that has a header of its name is a part of all its programs; each other is a program.
PARTS := $(filter $(patsubst %.h,%.c,$(wildcard $(LESSONS:=/*.h))),$(wildcard $(LESSONS:=/*.c)))
PROGRAMS := $(patsubst %.c,$B/%,$(filter-out $(PARTS),$(wildcard $(LESSONS:=/*.c))))

# HOSTS=2: the server in one virtual machine, the client in another.
ifeq ($(HOSTS),2)
export LAB := hosts
else ifneq ($(filter-out 1,$(HOSTS)),)
$(error HOSTS=$(HOSTS): 1 or 2; or type unset HOSTS)
endif

# make need not look for rules of its own, nor for one that makes a .d file.
MAKEFLAGS += -r
%.d: ;
.DELETE_ON_ERROR:
ifneq ($(filter break-%,$(MAKECMDGOALS)),)
.NOTPARALLEL: # one after the other
endif
.SECONDARY:

.PHONY: all help deps deps-tools doctor lab-up lab-down lab-shell atomic-write why bench bench-record \
	illustrated pictures tables book progress handout clean fmt
all: $(PROGRAMS) $B/pair ## build every lesson

half_done := $(addprefix -Wno-error=unused-,parameter variable but-set-variable function) # is judged
# What is compiled finds common/ and its lesson; an exercise and its judge also judges/.
includes = -Icommon $(foreach l,$(filter $(LESSONS),$(subst /, ,$1)),-I$l -Ijudges/$l -Ijudges)
# For the scripts that compile a changed copy.
export COMPILE = $(CC) $(filter-out -Werror -g,$(CFLAGS)) -Wno-unused -Icommon
export COMMON LDLIBS
define compile
@mkdir -p $(@D)
$Q$(CC) $(CFLAGS) $(if $(findstring /exercises/,$<),$(half_done)) -MMD -MP $(call includes,$<) -c $< -o $@ || \
	{ echo "$<: it does not compile; the compiler says why above"; exit 1; }
endef
link = $Q$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@ || { echo "$@: it does not link; the linker says above what no file has"; exit 1; }

$B/%.o: %.c
	$(compile)
$B/%: $B/%.o $(COMMON)
	$(link)
$B/pair: LDLIBS :=
$B/pair: $B/course/pair.o $B/common/plumbing/qdisc.o
	$(link)

# Of a file its lesson, and the numbers (or a letter) in front of the "_", as in make ex-03.1.
lesson = $(firstword $(subst /, ,$1))
id = $(call num,$(call lesson,$1)).$(call num,$1)
# SERVER=py, CLIENT=py: that side in Python, where the lesson has one. LESSON SIDE VARIABLE
side = $(or $(if $(filter-out c,$($3)),$(wildcard $1/$2.$($3)),$(and $(wildcard $1/$2.c),$B/$1/$2)),$(error $1 has no $2.$(or $($3),c): unset $3, or git restore $1/$2.$(or $($3),c)))
# In an emulated guest Python may take longer to start than the other side waits.
patient = $(if $(filter py,$(SERVER) $(CLIENT)),SERVER_ARGS="-t 30 $$SERVER_ARGS" CLIENT_ARGS="-t 30 $$CLIENT_ARGS")
# LESSON NUMBER
define lesson_targets
.PHONY: $1 run-$2 check-$2 trace-$2 check-trace-$2 break-$2
$(filter $B/$1/%,$(PROGRAMS)): $(patsubst %.c,$B/%.o,$(filter $1/%,$(PARTS)))
$1 run-$2 check-$2 trace-$2 check-trace-$2: $B/pair $(filter $B/$1/%,$(PROGRAMS))
run-$2:
	@$$(patient) course/paint lab/lab run $B/pair $$(call side,$1,server,SERVER) $$(call side,$1,client,CLIENT)
check-$2:
	@$$(patient) course/check $1 $$(call side,$1,server,SERVER) $$(call side,$1,client,CLIENT)
check-trace-$2:
	@tests/trace-check $1
trace-$2:
	@course/trace $2$(addprefix +,$(DELAY)) $B/$1/server $B/$1/client
break-$2: $(foreach p,$(filter $1/%,$(PATCHES)),break-$(call id,$p))
endef
# PATCH ID LESSON BUILT. A break asks for a prediction if it is the only target.
define break_targets
.PHONY: break-$2 trace-$2
$4/built: $1 $(COMMON) $B/$3/server $B/$3/client
	@course/build-break $1
break-$2 trace-$2: $B/pair $4/built
break-$2:
	@$$(if $$(filter-out $$@,$$(MAKECMDGOALS)),ASK=no )course/break $1
trace-$2:
	@$$(if $$(shell grep -x 'hosts: 2' $1),LAB=hosts )course/trace $2$(addprefix +,$(DELAY)) $4/server $4/client
endef
# EXERCISE ID PROGRAM JUDGE. The judge is the rest of the program.
define exercise_targets
.PHONY: ex-$2 hint-$2 reset-$2
$3 $4.solution: $4.o $B/judges/judge.o
ex-$2: $3
	@course/paint course/exercise $1
hint-$2:
	@course/exercise --hint $1 $(if $(MORE),2)
reset-$2:
	@course/exercise --reset $1
endef
$(foreach l,$(LESSONS),$(eval $(call lesson_targets,$l,$(call num,$l))))
$(foreach p,$(PATCHES),$(eval $(call break_targets,$p,$(call id,$p),$(call lesson,$p),$B/$(p:.patch=))))
$(foreach e,$(EXERCISES),$(eval $(call exercise_targets,$e,$(call id,$e),$B/$(e:.c=),$B/judges/$(subst exercises/,,$(e:.c=)))))

.DEFAULT: ; @course/no-such $@ >&2; exit 2
help: ## this list
	@course/help $(MAKEFILE_LIST)
deps: ## install what is needed, by package name
deps-tools: ## the same, and what only make bench, book, test-pages and watch-nvme need
deps deps-tools:
	@lab/deps $(if $(@:deps=),more)
doctor: ## check what a run needs, and say how to fix it
lab-up: ## keep the lab running, so that the next run takes a second
lab-down: ## end it
lab-shell: ## a shell inside the lab: ibv_devinfo, rdma, tcpdump, tc
doctor lab-up lab-down lab-shell:
	@lab/lab $(@:lab-%=%)$(if $(filter %shell,$@), || test $$? != 125) # its last command may have failed
why: ## what a log with errors means, if known: LOG=FILE, or standard input
	@course/why $${LOG:+"$$LOG"} || test $$? = 141 # a reader that has seen enough, such as head
atomic-write: $B/06_atomics/atomic_write ## lesson 06's third program
	@course/paint lab/lab run sh -c '"$$0" $${DEV_CLIENT:+-d "$$DEV_CLIENT"} || test $$? = 77' $<
progress: ## which exercises pass now, and which is the next
handout: ## an archive of all this for students, without the solutions
progress handout:
	@course/paint course/$@
pictures: ## draw the packets of each lesson (wire.svg), as its README shows them
	@mkdir -p $B; for l in $(LESSONS); do course/packets/picture.py $$l/README.md >$B/wire.svg && mv $B/wire.svg $$l || exit; done
book: ## the whole course as one page and as PDF, in build/book; BOOK=zh: in Chinese
	@docs/book/make $(BOOK)
fmt: ## format the C files
	clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h')
clean: ## remove everything that was built (lab-down comes first)
	@lab/lab down
	rm -rf $(filter-out $B/guesses $B/judged,$(wildcard $B/*))

# What measures, what tests, and what a directory below brings along.
include bench/bench.mk tests/tests.mk $(wildcard */*/*.mk)

# What an object depends on is in its .d file. Reading all of them takes half a second, so
# not for one lesson, nor for what compiles nothing.
FEW := run-% ex-% hint-% reset-% progress lab-% help why
OF := $(if $(filter-out $(FEW),$(or $(MAKECMDGOALS),all)),,$(addsuffix _*,$(basename $(patsubst ex-%,%,$(MAKECMDGOALS:run-%=%)))))
-include $(filter-out $B/kernel/%,$(wildcard $(patsubst %,$B/%/*.d,$(if $(OF),common common/plumbing course judges \
	lab/strict $(OF) $(OF:%=%/exercises) $(OF:%=judges/%),* */* */*/*))))
