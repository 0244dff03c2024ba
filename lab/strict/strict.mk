# SPDX-License-Identifier: MIT
# NIC=strict: every program that runs in the lab runs with build/strict.so (docs/strict.md).
STRICT := $(patsubst %.c,$B/%.o,$(wildcard lab/strict/*.c))
$(STRICT): override CFLAGS += -fPIC
$B/strict.so: $(STRICT)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) -shared $^ -o $@
$B/strict: lab/strict/strict $B/strict.so
	$Qcp $< $@
EVERYTHING += $B/strict.so $B/strict $B/broken
everything: $B/strict.so $B/strict $B/broken

ifeq ($(NIC),strict)
export NIC
$B/pair: | $B/strict.so
$(EXERCISES:%.c=$B/%): | $B/strict.so
else ifneq ($(NIC),)
$(error NIC=$(NIC): strict, or nothing)
endif
$B/broken: LDLIBS := -libverbs
$B/broken: $B/tests/broken.o
	$(link)
