# SPDX-License-Identifier: MIT
# Only this lesson needs librdmacm, and so do its breaks, its exercises and their judges.
$B/11_% $B/judges/11_% $B/asan/11_% $B/tsan/11_% $B/rights/11_% $B/controls/11_% $B/wire-controls/11_%: LDLIBS += -lrdmacm
