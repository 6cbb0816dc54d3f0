#pragma once

void part_seventy(void);
void part_twenty(void);
void part_ten(void);
