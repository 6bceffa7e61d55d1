// The dynamic loader. Texts that are returned are to be freed; NULL is none.
#pragma once

// The file that a library of this process is from.
char *redsi_lib_loaded(const char *name);
// Loads a library for good; its symbols are seen by all that is loaded later. Returns what is wrong.
char *redsi_lib_open(const char *path);
// status = function(&value), of a library that stays loaded. Returns what is wrong.
char *redsi_lib_number(const char *library, const char *function, int *value, int *status);
// function(n), a text.
char *redsi_lib_text(const char *library, const char *function, int n);
