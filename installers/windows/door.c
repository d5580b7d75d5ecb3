/* What User Account Control starts: the step before the elevated helper, with nothing of the user's in it.

       "GPU Assistant.exe" --administrator-door REQUEST SHA256

   Windows gives an elevated program the user's environment (HKCU\Environment with OPENSSL_CONF, PATH, TEMP, COR_PROFILER,
   ...), and this program lies where its user may write. So this first step loads nothing but Windows' own DLLs, and

   1. makes a folder below Windows' own Temp that only administrators can open, with its permissions from its creation on;
   2. reads each file that the helper needs once, compares its SHA-256 with the list in our own resources (made by build.py,
      covered by our signature), and writes the very bytes that were compared into that folder;
   3. starts the terminal's launcher there, with an environment of fixed names and Windows' own values: an allow list;
   4. waits for its end, takes the folder away, and ends with its exit code.

   Exit code 1: not possible. DOOR_CHANGED: a file is not the one that was built (PROGRAM_CHANGED in
   gpu_assistant/install/elevation/protocol.py). What remains is in docs/decisions/0008-administrator-door.md. */

#include <windows.h>
#include <bcrypt.h>
#include <sddl.h>
#include <userenv.h>

#include "door.h"

#define LONGEST 32768
#define DOOR_CHANGED 3
#define DIGEST_BYTES 32
#define TRIES 40
#define TRY_AGAIN_MS 250
#define MOST_BYTES (1 << 28) /* of one file: the largest has 6 MB */
/* Owner and full access: administrators and the system. Nobody else, and nothing is inherited from above. */
#define ONLY_ADMINISTRATORS L"O:BAD:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)"
#define SYSTEM_FOLDERS L"%s;%s\\Wbem;%s\\WindowsPowerShell\\v1.0;%s"

typedef NTSTATUS(WINAPI *OpenAlgorithm)(BCRYPT_ALG_HANDLE *, LPCWSTR, LPCWSTR, ULONG);
typedef NTSTATUS(WINAPI *CreateHash)(BCRYPT_ALG_HANDLE, BCRYPT_HASH_HANDLE *, PUCHAR, ULONG, PUCHAR, ULONG, ULONG);
typedef NTSTATUS(WINAPI *HashData)(BCRYPT_HASH_HANDLE, PUCHAR, ULONG, ULONG);
typedef NTSTATUS(WINAPI *FinishHash)(BCRYPT_HASH_HANDLE, PUCHAR, ULONG, ULONG);
typedef NTSTATUS(WINAPI *DestroyHash)(BCRYPT_HASH_HANDLE);
typedef NTSTATUS(WINAPI *GenRandom)(BCRYPT_ALG_HANDLE, PUCHAR, ULONG, ULONG);
typedef BOOL(WINAPI *CreateBlock)(LPVOID *, HANDLE, BOOL);

static OpenAlgorithm open_algorithm;
static CreateHash create_hash;
static HashData hash_data;
static FinishHash finish_hash;
static DestroyHash destroy_hash;
static GenRandom random_bytes;
static CreateBlock create_block;
static BCRYPT_ALG_HANDLE sha256;

static wchar_t windows[MAX_PATH], system32[MAX_PATH], private_folder[MAX_PATH];
static wchar_t from[LONGEST], to[LONGEST], line[LONGEST], environment[LONGEST];

/* Not linked: only DLLs that Windows never looks for beside a program may be (tests/installers/test_windows_door.py). */
static int load_functions(void)
{
    HMODULE cryptography = LoadLibraryExW(L"bcrypt.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    HMODULE profiles = LoadLibraryExW(L"userenv.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!cryptography || !profiles)
        return 0;
    open_algorithm = (OpenAlgorithm)(void *)GetProcAddress(cryptography, "BCryptOpenAlgorithmProvider");
    create_hash = (CreateHash)(void *)GetProcAddress(cryptography, "BCryptCreateHash");
    hash_data = (HashData)(void *)GetProcAddress(cryptography, "BCryptHashData");
    finish_hash = (FinishHash)(void *)GetProcAddress(cryptography, "BCryptFinishHash");
    destroy_hash = (DestroyHash)(void *)GetProcAddress(cryptography, "BCryptDestroyHash");
    random_bytes = (GenRandom)(void *)GetProcAddress(cryptography, "BCryptGenRandom");
    create_block = (CreateBlock)(void *)GetProcAddress(profiles, "CreateEnvironmentBlock");
    return open_algorithm && create_hash && hash_data && finish_hash && destroy_hash && random_bytes && create_block &&
           !open_algorithm(&sha256, BCRYPT_SHA256_ALGORITHM, NULL, 0);
}

/* Nobody can know its name beforehand, and it is new: where something of that name is, CreateDirectoryW fails. */
static int create_private_folder(void)
{
    unsigned char number[8];
    wchar_t *end;
    SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes};
    int created;
    if (random_bytes(NULL, number, sizeof number, BCRYPT_USE_SYSTEM_PREFERRED_RNG))
        return 0;
    wsprintfW(private_folder, L"%s\\Temp\\gpu-assistant-program-", windows);
    end = private_folder + lstrlenW(private_folder);
    for (unsigned i = 0; i < sizeof number; i++)
        end += wsprintfW(end, L"%02x", number[i]);
    /* https://learn.microsoft.com/windows/win32/secauthz/security-descriptor-string-format */
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(ONLY_ADMINISTRATORS, SDDL_REVISION_1,
                                                              &attributes.lpSecurityDescriptor, NULL))
        return 0;
    created = CreateDirectoryW(private_folder, &attributes);
    LocalFree(attributes.lpSecurityDescriptor);
    return created;
}

/* What a signature covers of a program or library, so that the list holds before and after signing; of any other file all.
   "PE format" and "Windows Authenticode Portable Executable Signature Format", Microsoft; `content_digest` in signing.py. */
static int digest(unsigned char *data, DWORD size, unsigned char *made)
{
    static unsigned char zeros[8];
    const IMAGE_DOS_HEADER *dos = (const IMAGE_DOS_HEADER *)data;
    const IMAGE_NT_HEADERS64 *head = (const IMAGE_NT_HEADERS64 *)(data + (size < sizeof *dos ? 0 : dos->e_lfanew));
    BCRYPT_HASH_HANDLE hash;
    DWORD start = 0;
    int failed = create_hash(sha256, &hash, NULL, 0, NULL, 0, 0) != 0;
    if (failed)
        return 0;
    if (size >= sizeof *dos && dos->e_magic == IMAGE_DOS_SIGNATURE && dos->e_lfanew > 0 &&
        (DWORD)dos->e_lfanew < size && size - dos->e_lfanew >= sizeof *head && head->Signature == IMAGE_NT_SIGNATURE &&
        head->OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC) {
        const IMAGE_DATA_DIRECTORY *signature = &head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_SECURITY];
        DWORD checksum = (const unsigned char *)&head->OptionalHeader.CheckSum - data;
        DWORD entry = (const unsigned char *)signature - data;
        DWORD end = signature->Size ? signature->VirtualAddress : size;
        if (end > size || end < entry + sizeof *signature)
            end = size;
        failed |= hash_data(hash, data, checksum, 0) != 0;
        failed |= hash_data(hash, data + checksum + 4, entry - checksum - 4, 0) != 0;
        start = entry + sizeof *signature;
        failed |= hash_data(hash, data + start, end - start, 0) != 0;
        if (!signature->Size) /* signing fills it up */
            failed |= hash_data(hash, zeros, (8 - size % 8) % 8, 0) != 0;
    } else
        failed |= hash_data(hash, data, size, 0) != 0;
    failed |= finish_hash(hash, made, DIGEST_BYTES, 0) != 0;
    destroy_hash(hash);
    return !failed;
}

static int hex(char letter)
{
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

/* Every folder on the way to `to`, below the private one. */
static void create_folders(void)
{
    for (wchar_t *at = to + lstrlenW(private_folder) + 1; *at; at++)
        if (*at == L'\\') {
            *at = 0;
            CreateDirectoryW(to, NULL); /* with the permissions of the folder above, as that one says */
            *at = L'\\';
        }
}

/* Copies `from` to `to` where it is what the list says: 0, or the exit code. */
static int copy_checked(const char *wanted)
{
    unsigned char made[DIGEST_BYTES], *data = NULL;
    LARGE_INTEGER size;
    DWORD moved;
    int code = DOOR_CHANGED;
    HANDLE file = CreateFileW(from, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return code;
    if (GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size) && size.QuadPart < MOST_BYTES)
        data = HeapAlloc(GetProcessHeap(), 0, size.LowPart + 1);
    if (data && ReadFile(file, data, size.LowPart, &moved, NULL) && moved == size.LowPart &&
        digest(data, size.LowPart, made)) {
        code = 0;
        for (int i = 0; i < DIGEST_BYTES; i++)
            if (made[i] != hex(wanted[2 * i]) * 16 + hex(wanted[2 * i + 1]))
                code = DOOR_CHANGED;
    }
    CloseHandle(file);
    if (!code) {
        create_folders();
        file = CreateFileW(to, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        code = file == INVALID_HANDLE_VALUE || !WriteFile(file, data, size.LowPart, &moved, NULL) || moved != size.LowPart;
        if (file != INVALID_HANDLE_VALUE)
            CloseHandle(file);
    }
    if (data)
        HeapFree(GetProcessHeap(), 0, data);
    return code;
}

/* Takes a folder away with all that is in it; a link in it goes, not what it leads to. `path` is used up and restored. */
static int remove_tree(wchar_t *path)
{
    WIN32_FIND_DATAW found;
    int end = lstrlenW(path);
    HANDLE search;
    if (end + MAX_PATH + 2 >= LONGEST)
        return 0;
    search = FindFirstFileW(lstrcatW(path, L"\\*"), &found);
    if (search != INVALID_HANDLE_VALUE) {
        do {
            if (!lstrcmpW(found.cFileName, L".") || !lstrcmpW(found.cFileName, L".."))
                continue;
            lstrcpyW(path + end + 1, found.cFileName);
            if (!(found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
                DeleteFileW(path);
            else if (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
                RemoveDirectoryW(path);
            else
                remove_tree(path);
        } while (FindNextFileW(search, &found));
        FindClose(search);
    }
    path[end] = 0;
    return RemoveDirectoryW(path);
}

/* Every file of the list: 0, or the first one's exit code. The list has a line for each: its digest, a blank, its path. */
static int copy_files(const wchar_t *folder)
{
    HRSRC found = FindResourceW(NULL, L"DOOR", (LPCWSTR)RT_RCDATA);
    HGLOBAL loaded = found ? LoadResource(NULL, found) : NULL;
    const char *at = loaded ? LockResource(loaded) : NULL, *end = at ? at + SizeofResource(NULL, found) : NULL;
    int code = at == end;
    while (at < end && !code) {
        const char *path = at + 2 * DIGEST_BYTES + 1, *stop = path;
        wchar_t name[MAX_PATH];
        int size;
        while (stop < end && *stop != '\n')
            stop++;
        size = MultiByteToWideChar(CP_UTF8, 0, path, stop - path, name, MAX_PATH - 1);
        name[size] = 0;
        if (!size || lstrlenW(folder) + size + 2 >= LONGEST)
            return 1;
        lstrcatW(lstrcpyW(from, folder), name);
        lstrcatW(lstrcatW(lstrcpyW(to, private_folder), L"\\"), name);
        code = copy_checked(at);
        at = stop + 1;
    }
    return code;
}

/* The value in a block of "NAME=value" lines; NULL where it has none. */
static const wchar_t *find_value(const wchar_t *block, const wchar_t *name)
{
    int size = lstrlenW(name);
    for (; block && *block; block += lstrlenW(block) + 1)
        if (CompareStringOrdinal(block, size, name, size, TRUE) == CSTR_EQUAL && block[size] == L'=')
            return block + size + 1;
    return NULL;
}

/* The helper's environment: these names and no others, sorted as CreateProcessW wants them. Where no value stands here,
   Windows' own is taken: CreateEnvironmentBlock without a user gives the variables of the computer alone
   (https://learn.microsoft.com/windows/win32/api/userenv/nf-userenv-createenvironmentblock). The profile is the system's,
   as programs have it that an administrator distributes: only administrators write there. */
static int make_environment(void)
{
    static wchar_t path[LONGEST], command[MAX_PATH], profile[MAX_PATH], roaming[MAX_PATH], local[MAX_PATH];
    static wchar_t drive[3], temporary[MAX_PATH];
    const struct {
        const wchar_t *name, *value;
    } variables[] = {
        {L"ALLUSERSPROFILE", NULL},
        {L"APPDATA", roaming},
        {L"CommonProgramFiles", NULL},
        {L"CommonProgramFiles(x86)", NULL},
        {L"CommonProgramW6432", NULL},
        {L"COMPUTERNAME", NULL},
        {L"ComSpec", command},
        {L"DriverData", NULL},
        {L"LOCALAPPDATA", local},
        {L"NUMBER_OF_PROCESSORS", NULL},
        {L"OS", NULL},
        {L"PATH", path},
        {L"PATHEXT", L".COM;.EXE;.BAT;.CMD"},
        {L"PROCESSOR_ARCHITECTURE", NULL},
        {L"PROCESSOR_IDENTIFIER", NULL},
        {L"PROCESSOR_LEVEL", NULL},
        {L"PROCESSOR_REVISION", NULL},
        {L"ProgramData", NULL},
        {L"ProgramFiles", NULL},
        {L"ProgramFiles(x86)", NULL},
        {L"ProgramW6432", NULL},
        {L"PUBLIC", NULL},
        {L"SystemDrive", drive},
        {L"SystemRoot", windows},
        {L"TEMP", temporary},
        {L"TMP", temporary},
        {L"USERPROFILE", profile},
        {L"windir", windows},
    };
    void *computer = NULL;
    wchar_t *at = environment;
    if (!create_block(&computer, NULL, FALSE))
        return 0;
    lstrcpynW(drive, windows, 3);
    wsprintfW(path, SYSTEM_FOLDERS, system32, system32, system32, windows);
    wsprintfW(command, L"%s\\cmd.exe", system32);
    wsprintfW(profile, L"%s\\config\\systemprofile", system32);
    wsprintfW(roaming, L"%s\\AppData\\Roaming", profile);
    wsprintfW(local, L"%s\\AppData\\Local", profile);
    wsprintfW(temporary, L"%s\\temp", private_folder);
    if (!CreateDirectoryW(temporary, NULL))
        return 0;
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const wchar_t *value = variables[i].value ? variables[i].value : find_value(computer, variables[i].name);
        if (!value)
            continue;
        if (at - environment + lstrlenW(variables[i].name) + lstrlenW(value) + 3 > LONGEST)
            return 0;
        lstrcatW(lstrcatW(lstrcpyW(at, variables[i].name), L"="), value);
        at += lstrlenW(at) + 1;
    }
    *at = 0;
    return 1;
}

/* Starts the helper and waits for its end; its exit code. Its standard input is a pipe, which launcher.c looks for. */
static int run_helper(const wchar_t *request, const wchar_t *wanted)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    STARTUPINFOW startup = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION started;
    HANDLE other;
    DWORD code = 1;
    if (!CreatePipe(&startup.hStdInput, &other, &inherited, 0))
        return 1;
    SetHandleInformation(other, HANDLE_FLAG_INHERIT, 0);
    startup.hStdOutput = startup.hStdError =
        CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    wsprintfW(from, L"%s\\gpu-assistant.exe", private_folder);
    lstrcatW(lstrcatW(lstrcpyW(line, L"\""), from), L"\" " DOOR_FLAG L" \"");
    lstrcatW(lstrcatW(lstrcatW(lstrcatW(line, request), L"\" \""), wanted), L"\"");
    if (CreateProcessW(from, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT, environment,
                       private_folder, &startup, &started)) {
        WaitForSingleObject(started.hProcess, INFINITE);
        GetExitCodeProcess(started.hProcess, &code);
    }
    return code;
}

/* A word that stands between quotation marks as it is. */
static int is_plain(const wchar_t *word)
{
    int size = lstrlenW(word);
    for (const wchar_t *at = word; *at; at++)
        if (*at == L'"' || *at < L' ')
            return 0;
    return size && size < 8192 && word[size - 1] != L'\\';
}

int open_door(const wchar_t *folder, int count, wchar_t **words)
{
    int code;
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!GetSystemWindowsDirectoryW(windows, MAX_PATH - 80) || !GetSystemDirectoryW(system32, MAX_PATH - 80))
        return 1;
    SetCurrentDirectoryW(windows);
    if (count != 4 || !is_plain(words[2]) || !is_plain(words[3]) || !load_functions() || !create_private_folder())
        return 1;
    code = copy_files(folder);
    if (!code)
        code = make_environment() ? run_helper(words[2], words[3]) : 1;
    lstrcpyW(to, private_folder);
    for (int tries = 0; !remove_tree(to) && tries < TRIES; tries++)
        Sleep(TRY_AGAIN_MS); /* a virus scanner looks at what has just ended */
    return code;
}
