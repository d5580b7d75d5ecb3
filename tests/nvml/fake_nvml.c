/* NVML's functions, answered from a scenario file, so that the real nvidia-ml-py can be tested without a card.
 *
 * FAKE_NVML_SCENARIO names the file; a change of it holds from the next call on. Lines are "key value": `init`,
 * `driver`, `cuda`, `gpus` for the machine, "0.util 37" for card 0. A key that is not there is
 * NVML_ERROR_NOT_SUPPORTED, a value "!15" is the error 15.
 *
 *   0.util@5 !15       from second 5 on: seconds since the library was loaded, or what the line `second` says
 *   delay 20           every call takes 20 ms
 *   hang nvmlFunction  a call of this function comes back only once the line is gone
 *   0.xid 79 2         Xid 79, and how often it was reported so far; needs a line "0.events 1"
 *
 *   0.mig 1            it is divided (MIG); "0.slice1.uuid MIG-…" is its first slice, "0.slice2.uuid" its second
 *
 *   fixed 1            the file is never looked at again: calls cost as little as they can
 *
 * The names of the functions called are appended to the file that FAKE_NVML_CALLS names.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#define API __declspec(dllexport) int
static void wait_ms(int ms) { Sleep((DWORD)ms); }
static double seconds(void) { return (double)GetTickCount64() / 1000; }
/* The C library's copy of the environment is as old as the library. */
static const char *setting(const char *name) {
    static char text[2][1024];
    static int turn;
    char *to = text[turn ^= 1];
    DWORD length = GetEnvironmentVariableA(name, to, sizeof *text);
    return length && length < sizeof *text ? to : NULL;
}
#else
#define API __attribute__((visibility("default"))) int
static const char *setting(const char *name) { return getenv(name); }
static void wait_ms(int ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
#endif

/* Read when the library is opened, not at each call: another thread that changes the environment meanwhile, as numpy does
 * while it is loaded, takes it away from under getenv. */
static char scenario_path[1024], calls_path[1024];
static void read_settings(void) {
    const char *scenario = setting("FAKE_NVML_SCENARIO"), *calls = setting("FAKE_NVML_CALLS");
    snprintf(scenario_path, sizeof scenario_path, "%s", scenario ? scenario : "");
    snprintf(calls_path, sizeof calls_path, "%s", calls ? calls : "");
}

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7, TIMEOUT = 10 };
enum { CARDS = 16, SLICES = 7, LINES = 4096 };
typedef unsigned int uint;
typedef unsigned long long u64;
typedef struct card { int index; u64 xid_seen; int slice; } *Device; /* slice 0: the whole card */

static struct card cards[CARDS], slices[CARDS][SLICES];
static int open_sessions;
static double began;

/* The scenario, sorted by key; of equal keys the earlier in time comes first. */
struct line { const char *key, *value; double from; };
static struct line lines[LINES];
static int line_count;
static int fixed;
static char text_of_file[1 << 18];
static struct stat read_as;
static volatile int busy; /* one at a time: a call that hangs holds nothing */

static void enter(void) { while (__sync_lock_test_and_set(&busy, 1)) wait_ms(0); }
static void leave(void) { __sync_lock_release(&busy); }

static int by_key(const void *a, const void *b) {
    const struct line *one = a, *two = b;
    int order = strcmp(one->key, two->key);
    return order ? order : (one->from > two->from) - (one->from < two->from);
}

static void read_scenario(void) {
    struct stat now;
    if (!began) began = seconds();
    if (fixed) return;
    if (!*scenario_path) { line_count = 0; return; }
    if (stat(scenario_path, &now)) return;
#ifndef _WIN32
    if (now.st_ino == read_as.st_ino && now.st_size == read_as.st_size
        && now.st_mtim.tv_sec == read_as.st_mtim.tv_sec && now.st_mtim.tv_nsec == read_as.st_mtim.tv_nsec) return;
#endif
    FILE *file = fopen(scenario_path, "rb");
    if (!file) return; /* Windows, in the moment in which it is replaced: what was read before still holds */
    size_t size = fread(text_of_file, 1, sizeof text_of_file - 1, file);
    fclose(file);
    text_of_file[size] = 0;
    read_as = now;
    line_count = 0;
    for (char *at = text_of_file; *at && line_count < LINES;) {
        char *end = at + strcspn(at, "\r\n");
        char *next = end + strspn(end, "\r\n");
        *end = 0;
        char *value = strchr(at, ' ');
        if (value) {
            *value++ = 0;
            char *from = strchr(at, '@');
            if (from) *from++ = 0;
            lines[line_count++] = (struct line){at, value, from ? atof(from) : 0};
        }
        at = next;
    }
    qsort(lines, (size_t)line_count, sizeof *lines, by_key);
    for (int at = 0; at < line_count; at++) fixed |= !strcmp(lines[at].key, "fixed");
}

/* The line that holds for a key at a moment. */
static const struct line *line_of(const char *key, double second) {
    int low = 0, high = line_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (strcmp(lines[middle].key, key) < 0) low = middle + 1; else high = middle;
    }
    const struct line *found = NULL;
    for (; low < line_count && !strcmp(lines[low].key, key) && lines[low].from <= second; low++) found = &lines[low];
    return found;
}

/* The text of a key, or the error it stands for. */
static int find(const char *key, char *value, size_t size) {
    enter();
    read_scenario();
    const struct line *second = line_of("second", 0);
    const struct line *line = line_of(key, second ? atof(second->value) : seconds() - began);
    int code = NOT_SUPPORTED;
    if (line && *line->value == '!') code = atoi(line->value + 1);
    else if (line && strlen(line->value) >= size) code = TOO_SMALL;
    else if (line) { strcpy(value, line->value); code = OK; }
    leave();
    return code;
}

static void called(const char *function) {
    char text[64];
    FILE *file = *calls_path ? fopen(calls_path, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", function);
        fclose(file);
    }
    if (find("delay", text, sizeof text) == OK) wait_ms(atoi(text));
    while (find("hang", text, sizeof text) == OK && !strcmp(text, function)) wait_ms(5);
}

static int of_card(Device device, const char *name, char *value, size_t size) {
    char key[64];
    if (!open_sessions) return UNINITIALIZED;
    if (!device) return INVALID;
    if (device->slice) snprintf(key, sizeof key, "%d.slice%d.%s", device->index, device->slice, name);
    else snprintf(key, sizeof key, "%d.%s", device->index, name);
    return find(key, value, size);
}

static int number(Device device, const char *name, u64 *to) {
    char text[64];
    int code = of_card(device, name, text, sizeof text);
    if (code == OK) *to = strtoull(text, NULL, 0);
    return code;
}

static int small(Device device, const char *name, uint *to) {
    u64 value = 0;
    int code = number(device, name, &value);
    if (code == OK) *to = (uint)value;
    return code;
}

static int machine_number(const char *name, int *to) {
    char text[64];
    if (!open_sessions) return UNINITIALIZED;
    int code = find(name, text, sizeof text);
    if (code == OK) *to = atoi(text);
    return code;
}

API nvmlInitWithFlags(uint flags) {
    char text[64];
    (void)flags;
    read_settings();
    called("nvmlInitWithFlags");
    int code = find("init", text, sizeof text);
    if (code == OK) open_sessions++;
    return code;
}
API nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
API nvmlShutdown(void) {
    called("nvmlShutdown");
    if (open_sessions) open_sessions--;
    return OK; /* without a session, too: so does the library of driver 535, whatever its documentation says */
}

API nvmlSystemGetDriverVersion(char *to, uint size) {
    called("nvmlSystemGetDriverVersion");
    return open_sessions ? find("driver", to, size) : UNINITIALIZED;
}
API nvmlSystemGetCudaDriverVersion_v2(int *to) { called("nvmlSystemGetCudaDriverVersion_v2"); return machine_number("cuda", to); }
API nvmlDeviceGetCount_v2(uint *to) { called("nvmlDeviceGetCount_v2"); return machine_number("gpus", (int *)to); }
API nvmlDeviceGetHandleByIndex_v2(uint index, Device *to) {
    char text[64];
    called("nvmlDeviceGetHandleByIndex_v2");
    if (!open_sessions) return UNINITIALIZED;
    if (index >= CARDS) return INVALID;
    cards[index].index = (int)index;
    int code = of_card(&cards[index], "handle", text, sizeof text);
    if (code != OK && code != NOT_SUPPORTED) return code;
    *to = &cards[index];
    return OK;
}
API nvmlDeviceGetHandleByUUID(const char *uuid, Device *to) {
    char text[96];
    called("nvmlDeviceGetHandleByUUID");
    for (int index = 0; index < CARDS; index++) {
        cards[index].index = index;
        if (of_card(&cards[index], "uuid", text, sizeof text) == OK && !strcmp(text, uuid)) { *to = &cards[index]; return OK; }
    }
    return 6;
}
API nvmlDeviceGetHandleByPciBusId_v2(const char *address, Device *to) {
    char text[32];
    called("nvmlDeviceGetHandleByPciBusId_v2");
    for (int index = 0; index < CARDS; index++) {
        cards[index].index = index;
        if (of_card(&cards[index], "address", text, sizeof text) == OK && !strcmp(text, address)) { *to = &cards[index]; return OK; }
    }
    return 6;
}
API nvmlDeviceGetIndex(Device device, uint *to) { called("nvmlDeviceGetIndex"); *to = (uint)device->index; return OK; }

#define WORDS(function, key) \
    API function(Device device, char *to, uint size) { called(#function); return of_card(device, key, to, size); }
#define NUMBER(function, key) \
    API function(Device device, uint *to) { called(#function); return small(device, key, to); }
#define BIG(function, key) \
    API function(Device device, u64 *to) { called(#function); return number(device, key, to); }

WORDS(nvmlDeviceGetName, "name")
WORDS(nvmlDeviceGetUUID, "uuid")
WORDS(nvmlDeviceGetSerial, "serial")
NUMBER(nvmlDeviceGetFanSpeed, "fan")
NUMBER(nvmlDeviceGetPowerUsage, "power")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementLimit, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power_default")
NUMBER(nvmlDeviceGetPerformanceState, "pstate")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen_max")
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie_gen_card")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
NUMBER(nvmlDeviceGetPcieReplayCounter, "pcie_replays")
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pending")
NUMBER(nvmlDeviceGetPersistenceMode, "persistence")
NUMBER(nvmlDeviceGetDisplayMode, "display")
NUMBER(nvmlDeviceGetDisplayActive, "display_active")
NUMBER(nvmlDeviceGetVirtualizationMode, "virtualization")
NUMBER(nvmlDeviceGetNumFans, "fans")
NUMBER(nvmlDeviceGetComputeMode, "compute_mode")
BIG(nvmlDeviceGetTotalEnergyConsumption, "energy")
BIG(nvmlDeviceGetCurrentClocksEventReasons, "event_reasons")
BIG(nvmlDeviceGetCurrentClocksThrottleReasons, "throttle_reasons")

API nvmlDeviceGetFanSpeedRPM(Device device, uint *to) { /* version, fan, speed */
    called("nvmlDeviceGetFanSpeedRPM");
    return small(device, "fan_rpm", &to[2]);
}
API nvmlDeviceGetEccMode(Device device, uint *now, uint *next) {
    called("nvmlDeviceGetEccMode");
    int code = small(device, "ecc", now);
    if (code == OK) *next = *now;
    return code;
}
API nvmlDeviceGetTotalEccErrors(Device device, int kind, int counter, u64 *to) {
    static const char *keys[2][2] = {{"ecc_corrected", "ecc_corrected_total"}, {"ecc_uncorrected", "ecc_uncorrected_total"}};
    called("nvmlDeviceGetTotalEccErrors");
    return number(device, keys[kind & 1][counter & 1], to);
}
API nvmlDeviceGetRetiredPages(Device device, int cause, uint *count, u64 *to) {
    uint found = 0;
    called("nvmlDeviceGetRetiredPages");
    int code = small(device, cause ? "retired_double" : "retired_single", &found);
    if (code != OK) return code;
    int fits = found <= *count;
    for (uint at = 0; to && fits && at < found; at++) to[at] = 0x1000 * (at + 1);
    *count = found;
    return fits ? OK : TOO_SMALL;
}
API nvmlDeviceGetRemappedRows(Device device, uint *mended, uint *lost, uint *pending, uint *failed) {
    char text[64];
    called("nvmlDeviceGetRemappedRows");
    int code = of_card(device, "remapped", text, sizeof text); /* "1 2 0 0" */
    if (code == OK && sscanf(text, "%u %u %u %u", mended, lost, pending, failed) != 4) code = INVALID;
    return code;
}
API nvmlDeviceGetTemperatureThreshold(Device device, int which, uint *to) {
    static const char *keys[] = {"temp_shutdown", "temp_slow", "temp_memory_max", "temp_max"};
    called("nvmlDeviceGetTemperatureThreshold");
    if (which < 0 || which > 7) return INVALID;
    return which < 4 ? small(device, keys[which], to) : NOT_SUPPORTED;
}
API nvmlDeviceGetMaxClockInfo(Device device, int kind, uint *to) {
    called("nvmlDeviceGetMaxClockInfo");
    return small(device, kind == 2 ? "clock_mem_max" : "clock_sm_max", to);
}

struct field { uint id, scope; long long t, took; int type, code; u64 value; };
API nvmlDeviceGetFieldValues(Device device, int count, struct field *fields) {
    called("nvmlDeviceGetFieldValues");
    if (!open_sessions) return UNINITIALIZED;
    for (int at = 0; at < count; at++) {
        /* NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_TEMPERATURE_*_TLIMIT */
        static const struct { uint id; const char *key; } known[] = {
            {82, "temp_memory"}, {193, "tlimit_shutdown"}, {194, "tlimit_slow"},
            {195, "tlimit_memory"}, {196, "tlimit_max"}};
        fields[at].type = 5; /* signed int */
        fields[at].code = NOT_SUPPORTED;
        for (uint of = 0; of < sizeof known / sizeof *known; of++)
            if (fields[at].id == known[of].id) fields[at].code = number(device, known[of].key, &fields[at].value);
    }
    return OK;
}

/* One set of events is enough: what every registered card has not yet told. */
struct event { Device device; u64 type, data; uint gpu_instance, compute_instance; };
static int watched[CARDS];
API nvmlEventSetCreate(void **to) {
    called("nvmlEventSetCreate");
    if (!open_sessions) return UNINITIALIZED;
    *to = watched;
    return OK;
}
API nvmlEventSetFree(void *set) { called("nvmlEventSetFree"); (void)set; memset(watched, 0, sizeof watched); return OK; }
API nvmlDeviceRegisterEvents(Device device, u64 types, void *set) {
    char text[64];
    called("nvmlDeviceRegisterEvents");
    (void)types, (void)set;
    int code = of_card(device, "events", text, sizeof text);
    if (code != OK) return code;
    watched[device->index] = 1;
    device->xid_seen = 0; /* what was before is not told */
    if (of_card(device, "xid", text, sizeof text) == OK) sscanf(text, "%*u %llu", &device->xid_seen);
    return OK;
}
API nvmlEventSetWait_v2(void *set, struct event *to, uint timeout) {
    char text[64];
    called("nvmlEventSetWait_v2");
    (void)set, (void)timeout;
    if (!open_sessions) return UNINITIALIZED;
    for (int index = 0; index < CARDS; index++) {
        u64 code = 0, count = 0;
        if (!watched[index] || of_card(&cards[index], "xid", text, sizeof text) != OK) continue;
        if (sscanf(text, "%llu %llu", &code, &count) != 2 || count <= cards[index].xid_seen) continue;
        cards[index].xid_seen++;
        *to = (struct event){&cards[index], 8, code, ~0u, ~0u};
        return OK;
    }
    return TIMEOUT;
}

API nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor) {
    char text[32];
    called("nvmlDeviceGetCudaComputeCapability");
    int code = of_card(device, "capability", text, sizeof text);
    if (code == OK && sscanf(text, "%d.%d", major, minor) != 2) code = INVALID;
    return code;
}

API nvmlDeviceGetPciInfo_v3(Device device, void *to) {
    struct { char old[16]; uint domain, bus, slot, id, subsystem; char address[32]; } *pci = to;
    char text[32];
    u64 id = 0;
    called("nvmlDeviceGetPciInfo_v3");
    int code = of_card(device, "address", text, sizeof text);
    if (code == OK) code = number(device, "pci", &id);
    if (code != OK) return code;
    memset(pci, 0, sizeof *pci);
    strcpy(pci->address, text);
    pci->id = (uint)id;
    return OK;
}

API nvmlDeviceGetDriverModel_v2(Device device, int *now, int *next) {
    called("nvmlDeviceGetDriverModel_v2");
    int code = small(device, "model", (uint *)now);
    if (code == OK) *next = *now;
    return code;
}

API nvmlDeviceGetMigMode(Device device, uint *now, uint *next) {
    called("nvmlDeviceGetMigMode");
    int code = small(device, "mig", now);
    if (code == OK) *next = *now;
    return code;
}
API nvmlDeviceGetMaxMigDeviceCount(Device device, uint *to) {
    uint divided = 0;
    called("nvmlDeviceGetMaxMigDeviceCount");
    int code = small(device, "mig", &divided);
    if (code == OK) *to = divided ? SLICES : 0;
    return code;
}
API nvmlDeviceGetMigDeviceHandleByIndex(Device device, uint index, Device *to) {
    char text[96];
    called("nvmlDeviceGetMigDeviceHandleByIndex");
    if (!device || device->slice || index >= SLICES) return INVALID;
    Device slice = &slices[device->index][index];
    slice->index = device->index;
    slice->slice = (int)index + 1;
    if (of_card(slice, "uuid", text, sizeof text) != OK) return 6; /* not found: no slice has this number */
    *to = slice;
    return OK;
}

API nvmlDeviceGetUtilizationRates(Device device, uint *rates) {
    called("nvmlDeviceGetUtilizationRates");
    int code = small(device, "util", &rates[0]);
    return code == OK ? small(device, "mem_util", &rates[1]) : code;
}

API nvmlDeviceGetMemoryInfo(Device device, u64 *to) { /* total, free, used */
    u64 reserved = 0;
    called("nvmlDeviceGetMemoryInfo");
    int code = number(device, "mem_total", &to[0]);
    if (code == OK) code = number(device, "mem_used", &to[2]);
    number(device, "mem_reserved", &reserved); /* is counted as used here */
    if (code == OK) { to[2] += reserved; to[1] = to[0] - to[2]; }
    return code;
}
API nvmlDeviceGetMemoryInfo_v2(Device device, u64 *to) { /* version, total, reserved, free, used */
    u64 reserved = 0;
    called("nvmlDeviceGetMemoryInfo_v2");
    int code = number(device, "mem_reserved", &reserved);
    if (code == OK) code = number(device, "mem_total", &to[1]);
    if (code == OK) code = number(device, "mem_used", &to[4]);
    if (code == OK) { to[2] = reserved; to[3] = to[1] - reserved - to[4]; }
    return code;
}
API nvmlDeviceGetBAR1MemoryInfo(Device device, u64 *to) { /* total, free, used */
    called("nvmlDeviceGetBAR1MemoryInfo");
    int code = number(device, "bar1", &to[0]);
    if (code == OK) { to[1] = to[0]; to[2] = 0; }
    return code;
}

API nvmlDeviceGetTemperature(Device device, int sensor, uint *to) {
    (void)sensor;
    called("nvmlDeviceGetTemperature");
    return small(device, "temp", to);
}
API nvmlDeviceGetTemperatureV(Device device, int *to) { /* version, sensor, value */
    called("nvmlDeviceGetTemperatureV");
    int code = small(device, "temp_v", (uint *)&to[2]);
    return code == NOT_SUPPORTED ? small(device, "temp", (uint *)&to[2]) : code;
}
API nvmlDeviceGetMarginTemperature(Device device, int *to) { /* version, degrees */
    called("nvmlDeviceGetMarginTemperature");
    return small(device, "temp_margin", (uint *)&to[1]);
}
API nvmlDeviceGetClockInfo(Device device, int kind, uint *to) {
    called("nvmlDeviceGetClockInfo");
    return small(device, kind == 2 ? "clock_mem" : "clock_sm", to);
}
API nvmlDeviceGetEncoderUtilization(Device device, uint *to, uint *period) {
    called("nvmlDeviceGetEncoderUtilization");
    *period = 100000;
    return small(device, "enc", to);
}
API nvmlDeviceGetDecoderUtilization(Device device, uint *to, uint *period) {
    called("nvmlDeviceGetDecoderUtilization");
    *period = 100000;
    return small(device, "dec", to);
}
API nvmlDeviceGetPcieThroughput(Device device, int counter, uint *to) {
    called("nvmlDeviceGetPcieThroughput");
    return small(device, counter == 0 ? "pcie_tx" : "pcie_rx", to);
}

struct process { uint pid; u64 used; uint instance, compute_instance; };

/* "0.compute 4242:1048576 77:" lists pids and their memory; without a figure it is not available. */
static int processes(Device device, const char *key, uint *count, struct process *list) {
    char text[256];
    uint found = 0;
    int code = of_card(device, key, text, sizeof text);
    if (code != OK) return code;
    for (char *at = text; *at; found++) {
        char *end;
        uint pid = (uint)strtoul(at, &end, 10);
        u64 used = *end == ':' && end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : ~0ull;
        if (list && found < *count) list[found] = (struct process){pid, used, ~0u, ~0u};
        at = end + strcspn(end, " ");
        at += strspn(at, " ");
    }
    int fits = found <= *count;
    *count = found;
    return fits ? OK : TOO_SMALL;
}
API nvmlDeviceGetComputeRunningProcesses_v3(Device device, uint *count, struct process *list) {
    called("nvmlDeviceGetComputeRunningProcesses_v3");
    return processes(device, "compute", count, list);
}
API nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, uint *count, struct process *list) {
    called("nvmlDeviceGetGraphicsRunningProcesses_v3");
    return processes(device, "graphics", count, list);
}
