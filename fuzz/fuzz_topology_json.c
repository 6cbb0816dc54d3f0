/* fuzz/fuzz_topology_json — any text as a topology file; a failure has its sentence. */
#include "fuzz.h"
#include "sys/topology.h"
#include "sys/topology_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *t = NULL;
	struct diag d = { 0 };

	if (topology_json_parse((const char *)data, size, "input", &d, &t) == 0)
		topology_free(t);
	else
		fuzz_check(d.code && d.what[0]);
	return 0;
}
