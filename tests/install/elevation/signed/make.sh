#!/usr/bin/env bash
# make.sh: makes the signed programs beside it anew. Needs mingw-w64, osslsigncode and openssl; the keys are thrown away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# program NAME VERSION
program() {
    printf '1 VERSIONINFO FILEVERSION %s\nBEGIN END\n' "$2" | x86_64-w64-mingw32-windres -O coff -o "$scratch/version.o"
    x86_64-w64-mingw32-gcc -Os -Wall -Wextra -Werror -s -nostdlib -fno-builtin -mconsole -Wl,-e,start \
        -Wl,--no-insert-timestamp installer.c "$scratch/version.o" -o "$1" -lkernel32
}
program unsigned.exe 14,50,35719,0
program "$scratch/older.exe" 14,38,33130,0

# authority NAME; between NAME AUTHORITY; signer NAME AUTHORITY PUBLISHER PURPOSE FROM UNTIL [PROGRAM]
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 12000 -subj "/O=Tests of GPU Assistant/CN=$1" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
        -keyout "$scratch/$1.key" -out "$scratch/$1.pem" 2>/dev/null
}
between() {
    openssl req -new -newkey rsa:2048 -nodes -subj "/O=Tests of GPU Assistant/CN=$1" -keyout "$scratch/$1.key" -out "$scratch/$1.csr" 2>/dev/null
    printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n' >"$scratch/$1.ext"
    openssl x509 -req -sha256 -days 12000 -CA "$scratch/$2.pem" -CAkey "$scratch/$2.key" -CAcreateserial \
        -extfile "$scratch/$1.ext" -in "$scratch/$1.csr" -out "$scratch/$1.pem" 2>/dev/null
}
signer() {
    openssl req -new -newkey rsa:2048 -nodes -subj "/C=US/O=$3/CN=$3" -keyout "$scratch/$1.key" -out "$scratch/$1.csr" 2>/dev/null
    printf 'basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\n' "$4" >"$scratch/$1.ext"
    mkdir -p "$scratch/$1"
    : >"$scratch/$1/index"
    openssl rand -hex 8 >"$scratch/$1/serial"
    printf '[ca]\ndefault_ca=c\n[c]\ndatabase=%s/index\nserial=%s/serial\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=p\n[p]\ncountryName=optional\norganizationName=supplied\ncommonName=supplied\n' \
        "$scratch/$1" "$scratch/$1" "$scratch/$1" >"$scratch/$1.conf"
    openssl ca -batch -notext -config "$scratch/$1.conf" -cert "$scratch/$2.pem" -keyfile "$scratch/$2.key" \
        -startdate "$5" -enddate "$6" -extfile "$scratch/$1.ext" -in "$scratch/$1.csr" -out "$scratch/$1.pem" 2>/dev/null
    cat "$scratch/$1.pem" "$scratch/$2.pem" >"$scratch/$1.chain"
    rm -f "$1.exe"
    osslsigncode sign -h sha256 -certs "$scratch/$1.chain" -key "$scratch/$1.key" -in "${7:-unsigned.exe}" -out "$1.exe" >/dev/null
}
authority known
authority stranger
between middle known
long=(20260101000000Z 20550101000000Z)
signer nvidia known "NVIDIA Corporation" codeSigning "${long[@]}"
signer microsoft known "Microsoft Corporation" codeSigning "${long[@]}"
signer other known "NVIDIA Corporation Ltd" codeSigning "${long[@]}"
signer purpose known "NVIDIA Corporation" serverAuth "${long[@]}"
signer nvidia-middle middle "NVIDIA Corporation" codeSigning "${long[@]}"
signer expired known "NVIDIA Corporation" codeSigning 20200101000000Z 20210101000000Z
signer stranger-made stranger "NVIDIA Corporation" codeSigning "${long[@]}"
signer nvidia-older known "NVIDIA Corporation" codeSigning 20240101000000Z 20550101000000Z
signer microsoft-older known "Microsoft Corporation" codeSigning "${long[@]}" "$scratch/older.exe"
openssl x509 -in "$scratch/known.pem" -outform der -out known.cer
# Those of three programs and of the authority between, for the chain alone.
for name in nvidia purpose nvidia-middle middle; do openssl x509 -in "$scratch/$name.pem" -outform der -out "$name.cer"; done
