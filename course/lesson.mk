# In a lesson's directory: the targets of the top, without the lesson's number. (Blanks in its path make several words.)
LESSON := $(lastword $(notdir $(CURDIR)))
NUMBER := $(firstword $(subst _, ,$(LESSON)))
TOP := $(MAKE) --no-print-directory -C ..

.PHONY: all run check trace check-trace break
all:
	+@$(TOP) $(LESSON)
run check trace check-trace break:
	+@$(TOP) $@-$(NUMBER)
.DEFAULT:
	+@$(TOP) $@
break-% trace-% ex-% hint-% reset-%:
	+@$(TOP) $(firstword $(subst -, ,$@))-$(NUMBER).$(*:$(NUMBER).%=%)
