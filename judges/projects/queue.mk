# SPDX-License-Identifier: MIT
# make judge-3 and judge-3.STAGE: what the judge of project 3 needs is in the lab.
JUDGE_3 := judge-3 $(addprefix judge-3.,1 2 3 4 5 6 7 8 9 10)
.PHONY: $(JUDGE_3)
$(JUDGE_3):
	@course/paint course/judge $(@:judge-%=%)
