// What the C++ file here offers to Go. Every function returns NULL, or a message to be freed.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// Makes the card. It must come before anything that asks libtorch for its cards, and before the first backward pass.
char *redsi_fakecard_install(void);

typedef struct {
  int64_t uploads, upload_bytes, downloads, download_bytes, waits, peak;
} redsi_fakecard_counts;

// What there was since the last call, which also begins a new count. Operators that ran on the card are "name number"
// lines in a string to be freed.
char *redsi_fakecard_take(redsi_fakecard_counts *counts);

#ifdef __cplusplus
}
#endif
