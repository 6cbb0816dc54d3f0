/* An analysis from outside the tree: all that a program which brings its own has to declare. */
#pragma once

struct pass;

extern const struct pass outside_pass;
