# SPDX-License-Identifier: MIT
# NIC=strict: every program that runs in the lab runs with build/strict.so (docs/strict.md).
STRICT_OBJECTS := $(patsubst %.c,$B/%.o,$(wildcard lab/strict/*.c))
$(STRICT_OBJECTS): override CFLAGS += -fPIC
$B/strict.so: $(STRICT_OBJECTS)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) -shared $^ -o $@
$B/strict: lab/strict/strict $B/strict.so
	$Qcp $< $@

ifeq ($(NIC),strict)
export NIC
.PHONY: strict-so
strict-so: $B/strict.so
$B/pair $(EXERCISES:%.c=$B/%) $(JUDGE_1) $(JUDGE_2) $(JUDGE_3): | strict-so
else ifeq ($(origin NIC),command line)
$(error NIC=$(NIC): strict, or nothing)
endif
