#ifndef CLOSE_H
#define CLOSE_H

#include <wchar.h>

int close_program(const wchar_t *given);

#endif
