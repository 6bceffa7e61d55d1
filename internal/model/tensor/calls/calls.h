#pragma once
#ifdef __cplusplus
extern "C" {
#endif

// Calls of operators on this thread whose names begin with prefix ("aten::mm"), from begin to end, which frees it;
// the text of redsi_calls_end, JSON, is to be freed.
void *redsi_calls_begin(const char *prefix);
char *redsi_calls_end(void *calls);

#ifdef __cplusplus
}
#endif
