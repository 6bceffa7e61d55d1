// The few functions of NVIDIA's management library that are asked, found at run time:
// a machine without it has no such cards.
#pragma once
#include <stddef.h>

// What a function returns for one that the library does not have.
#define REDSI_NVML_LACKS -2

// Opens the library of that name: 0, -1 if it is not there, REDSI_NVML_LACKS, or the
// library's own number.
int redsi_nvml_open(const char *library);
// What a number of the library's means, in its words; NULL if it does not say.
const char *redsi_nvml_says(int wrong);
unsigned redsi_nvml_cards(void);
int redsi_nvml_driver(char *version, unsigned length);
// The newest CUDA that the driver is for, as 1000 * major + 10 * minor.
int redsi_nvml_cuda(int *version);
// The energy that a card has taken since its driver was loaded, in millijoules; 0 if told.
int redsi_nvml_energy(unsigned card, unsigned long long *mj);
int redsi_nvml_name(unsigned card, char *name, unsigned length);
int redsi_nvml_uuid(unsigned card, char *uuid, unsigned length);
int redsi_nvml_memory(unsigned card, unsigned long long *total, unsigned long long *free);
int redsi_nvml_capability(unsigned card, int *major, int *minor);
