#!/usr/bin/env bash
# make.sh: makes nvcc.exe beside it anew. Needs mingw-w64.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
x86_64-w64-mingw32-gcc -Os -Wall -Wextra -Werror -s -nostdlib -fno-builtin -mconsole -Wl,-e,start -Wl,--no-insert-timestamp \
    nvcc.c -o nvcc.exe -lkernel32
