// The few functions of NVIDIA's management library that are asked, found at run time:
// a machine without it has no such cards.
#pragma once
#include <stddef.h>

// Opens the library of that name; 0, or what is wrong in a number of its own.
int redsi_nvml_open(const char *library);
unsigned redsi_nvml_cards(void);
// The energy that a card has taken since its driver was loaded, in millijoules; 0 if told.
int redsi_nvml_energy(unsigned card, unsigned long long *mj);
int redsi_nvml_name(unsigned card, char *name, unsigned length);
