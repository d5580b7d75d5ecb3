/* NVML's functions, answered from a scenario file, so that the real nvidia-ml-py can be tested without a card.
 *
 * FAKE_NVML_SCENARIO names the file; it is read anew at every call, so a test changes the machine by rewriting
 * it. Lines are "key value": `init`, `driver`, `cuda`, `gpus` for the machine, "0.util 37" for card 0. A key that
 * is not there is NVML_ERROR_NOT_SUPPORTED, a value "!15" is the error 15. Every call's name is appended to the
 * file with ".calls" added to its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define API __declspec(dllexport) int
#else
#define API __attribute__((visibility("default"))) int
#endif

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7 };
typedef unsigned int uint;
typedef unsigned long long u64;
typedef struct card { int index; } *Device;

static struct card cards[16];
static int open_sessions;

static void called(const char *function) {
    const char *scenario = getenv("FAKE_NVML_SCENARIO");
    char path[1024];
    if (!scenario || snprintf(path, sizeof path, "%s.calls", scenario) >= (int)sizeof path) return;
    FILE *file = fopen(path, "a");
    if (!file) return;
    fprintf(file, "%s\n", function);
    fclose(file);
}

/* The text of a key, or the error it stands for. */
static int find(const char *key, char *value, size_t size) {
    const char *scenario = getenv("FAKE_NVML_SCENARIO");
    FILE *file = scenario ? fopen(scenario, "r") : NULL;
    char line[512];
    int code = NOT_SUPPORTED;
    size_t length = strlen(key);
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        if (strncmp(line, key, length) || line[length] != ' ') continue;
        const char *text = line + length + 1;
        if (*text == '!') {
            code = atoi(text + 1);
        } else if (strlen(text) >= size) {
            code = TOO_SMALL;
        } else {
            strcpy(value, text);
            code = OK;
        }
        break;
    }
    if (file) fclose(file);
    return code;
}

static int of_card(Device device, const char *name, char *value, size_t size) {
    char key[64];
    if (!open_sessions) return UNINITIALIZED;
    if (!device) return INVALID;
    snprintf(key, sizeof key, "%d.%s", device->index, name);
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
    called("nvmlInitWithFlags");
    int code = find("init", text, sizeof text);
    if (code == OK) open_sessions++;
    return code;
}
API nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
API nvmlShutdown(void) {
    called("nvmlShutdown");
    if (!open_sessions) return UNINITIALIZED;
    open_sessions--;
    return OK;
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
    if (index >= sizeof cards / sizeof *cards) return INVALID;
    cards[index].index = (int)index;
    int code = of_card(&cards[index], "handle", text, sizeof text);
    if (code != OK && code != NOT_SUPPORTED) return code;
    *to = &cards[index];
    return OK;
}

#define TEXT(function, key) \
    API function(Device device, char *to, uint size) { called(#function); return of_card(device, key, to, size); }
#define NUMBER(function, key) \
    API function(Device device, uint *to) { called(#function); return small(device, key, to); }
#define BIG(function, key) \
    API function(Device device, u64 *to) { called(#function); return number(device, key, to); }

TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
NUMBER(nvmlDeviceGetFanSpeed, "fan")
NUMBER(nvmlDeviceGetPowerUsage, "power")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
BIG(nvmlDeviceGetCurrentClocksEventReasons, "event_reasons")
BIG(nvmlDeviceGetCurrentClocksThrottleReasons, "throttle_reasons")

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

API nvmlDeviceGetUtilizationRates(Device device, uint *rates) {
    called("nvmlDeviceGetUtilizationRates");
    int code = small(device, "util", &rates[0]);
    return code == OK ? small(device, "mem_util", &rates[1]) : code;
}

API nvmlDeviceGetMemoryInfo(Device device, u64 *to) { /* total, free, used */
    called("nvmlDeviceGetMemoryInfo");
    int code = number(device, "mem_total", &to[0]);
    if (code == OK) code = number(device, "mem_used", &to[2]);
    if (code == OK) to[1] = to[0] - to[2];
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

API nvmlDeviceGetTemperature(Device device, int sensor, uint *to) {
    (void)sensor;
    called("nvmlDeviceGetTemperature");
    return small(device, "temp", to);
}
API nvmlDeviceGetTemperatureV(Device device, int *to) { /* version, sensor, value */
    called("nvmlDeviceGetTemperatureV");
    return small(device, "temp_v", (uint *)&to[2]);
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
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *colon = strchr(word, ':');
        if (list && found < *count) {
            list[found].pid = (uint)strtoul(word, NULL, 10);
            list[found].used = colon && colon[1] ? strtoull(colon + 1, NULL, 10) : ~0ull;
            list[found].instance = list[found].compute_instance = ~0u;
        }
        found++;
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
