# SPDX-License-Identifier: MIT
# make judge-N and judge-N.STAGE (IN=DIR: what is in DIR), and what the judge of each project needs.
JUDGE_1 := judge-1 $(addprefix judge-1.,1 2 3 4 5 6 7)
JUDGE_2 := judge-2 $(addprefix judge-2.,1 2 3 4 5 6 7 8 9 10)
JUDGE_3 := $(JUDGE_2:judge-2%=judge-3%)
.PHONY: $(JUDGE_1) $(JUDGE_2) $(JUDGE_3)
$(JUDGE_1): $B/judges/projects/rights.so $B/judges/projects/hello_peer $B/00_hello/server
$(JUDGE_2): $B/judges/projects/rights.so
$(JUDGE_2) $(JUDGE_3): $(BENCH)
$(JUDGE_1) $(JUDGE_2) $(JUDGE_3):
	@course/paint course/judge $(@:judge-%=%) $(if $(IN),"$$IN")

# Preloaded into a student's program.
$B/judges/projects/rights.so: judges/projects/preload/rights.c
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -fPIC -shared $(LDFLAGS) $< -ldl -o $@

# What the judges must refuse, for tests/project: make everything does not build it.
.PHONY: wrong-programs
wrong-programs: $(patsubst %,$B/%/built,$(wildcard judges/projects/*.wrong))
$B/judges/projects/%.wrong/built: judges/projects/%.wrong judges/projects/%.solution.c $(COMMON)
	@tests/build-wrong $<
