# Linux's own NVMe over Fabrics in the lab: docs/nvme.md.
.PHONY: watch-nvme
watch-nvme: ## Linux's NVMe over Fabrics between two machines, packet by packet (nvme-cli)
	@lab/nvme/watch && course/packets/nvme.py $B/trace/nvme.pcap
