#ifndef REPORT_H
#define REPORT_H

#include <wchar.h>

void complain(const wchar_t *english, const wchar_t *chinese);
int smart_app_control_is_on(void);
void begin_report(const wchar_t *home);
void end_report(int code);

#endif
