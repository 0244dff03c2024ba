# In a lesson's directory: the targets of the top, without the lesson's number.
NUMBER := $(firstword $(subst _, ,$(notdir $(CURDIR))))
TOP := $(MAKE) --no-print-directory -C ..

.PHONY: all run check trace check-trace break help
all:
	@$(TOP) $(notdir $(CURDIR))
run check trace check-trace break:
	@$(TOP) $@-$(NUMBER)
help:
	@$(TOP) help
break-% trace-% ex-% hint-% reset-%:
	@$(TOP) $(firstword $(subst -, ,$@))-$(NUMBER).$*
