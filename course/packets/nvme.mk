# Linux's own NVMe over Fabrics in the lab: docs/nvme.md.
.PHONY: watch-nvme watch-nvme-killed watch-nvme-cut watch-nvme-refused
watch-nvme: ## Linux's NVMe over Fabrics between two machines, packet by packet: needs nvme-cli
	@lab/nvme/watch && course/packets/nvme.py $B/trace/nvme.pcap
watch-nvme-killed: ## its target is gone in the middle of a write
watch-nvme-cut: ## its wire is cut for 3 s
watch-nvme-refused: ## its host is not allowed
watch-nvme-killed watch-nvme-cut watch-nvme-refused:
	@lab/nvme/watch $(@:watch-nvme-%=%)
