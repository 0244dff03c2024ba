# SPDX-License-Identifier: MIT
# make judge-N and judge-N.STAGE, and what the judge of each project needs.
JUDGE_1 := judge-1 $(addprefix judge-1.,1 2 3 4 5 6 7)
.PHONY: $(JUDGE_1)
$(JUDGE_1): $B/judges/projects/hello_peer $B/00_hello/server
$(JUDGE_1):
	@course/paint course/judge $(@:judge-%=%)
