/* Starts the program with its own Python, which lies beside this file in runtime/: no shell, nothing taken from the
 * environment, and no second "python3" for anybody to find. Linked against that Python by $ORIGIN/runtime. */

#include <Python.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static PyStatus add(PyConfig *config, const char *home, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", home, name);
    wchar_t *wide = Py_DecodeLocale(path, NULL);
    if (wide == NULL)
        return PyStatus_NoMemory();
    PyStatus status = PyWideStringList_Append(&config->module_search_paths, wide);
    PyMem_RawFree(wide);
    return status;
}

static void set(PyStatus *status, PyConfig *config, wchar_t **field, const char *text)
{
    if (!PyStatus_Exception(*status))
        *status = PyConfig_SetBytesString(config, field, text);
}

/* As the helper with administrator rights: whatever started us, nothing in the environment is its caller's. OpenSSL would
 * load the libraries that OPENSSL_CONF names, glibc those of GCONV_PATH. pkexec gives a clean environment itself, and what
 * the loader reads before us (LD_PRELOAD) only it can leave out. */
static int forget_environment(void)
{
    return !clearenv() && !setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) && !setenv("LC_ALL", "C.UTF-8", 1) &&
           !chdir("/");
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "--administrator-door") && !forget_environment())
        return 1;
    char own[PATH_MAX], home[PATH_MAX], runtime[PATH_MAX + sizeof "/runtime"];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) {
        perror("gpu-assistant: /proc/self/exe");
        return 1;
    }
    own[length] = '\0';
    strcpy(home, own);
    *strrchr(home, '/') = '\0';
    snprintf(runtime, sizeof runtime, "%s/runtime", home);

    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    before.configure_locale = 1;
    PyStatus status = Py_PreInitialize(&before);
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.install_signal_handlers = 1; /* Ctrl+C */
    config.parse_argv = 0;
    config.site_import = 0;
    config.write_bytecode = 0;
    config.module_search_paths_set = 1;

    set(&status, &config, &config.executable, own);
    set(&status, &config, &config.home, runtime);
    set(&status, &config, &config.prefix, runtime);
    set(&status, &config, &config.exec_prefix, runtime);
    set(&status, &config, &config.base_prefix, runtime);
    set(&status, &config, &config.base_exec_prefix, runtime);
    set(&status, &config, &config.run_module, "gpu_assistant");
    const char *paths[] = {"runtime/" STANDARD_LIBRARY, "runtime", "app"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !PyStatus_Exception(status); i++)
        status = add(&config, home, paths[i]);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesArgv(&config, count, words);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    return Py_RunMain();
}
