#include <stdio.h>

int main(void)
{
	puts("schedscope " SCHEDSCOPE_VERSION);
	return 0;
}
