// The few functions of NVIDIA's driver that are asked, found at run time.
#pragma once
#include <stddef.h>

// Opens the driver of that name and starts it: 0, -1 if it is not there, -2 if it lacks
// functions, or the driver's own number.
int redsi_driver_open(const char *library);
// What a number of the driver's means, in its words; NULL if it does not say.
const char *redsi_driver_says(int wrong);
int redsi_driver_version(int *version);
int redsi_driver_cards(int *n);
int redsi_driver_card(int i, char *name, int length, unsigned char uuid[16], size_t *total, int *major, int *minor);
