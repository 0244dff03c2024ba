# SPDX-License-Identifier: MIT
# Only this lesson needs librdmacm, and so do its breaks, its exercises and their judges.
$B/11_% $B/judges/11_%: LDLIBS += -lrdmacm
