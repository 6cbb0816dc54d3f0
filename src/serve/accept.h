/* serve/accept — which format of metrics a client wants, by its Accept header. Untrusted; pure. */
#pragma once

enum metrics_format { FORMAT_TEXT, FORMAT_OPENMETRICS, FORMAT_PROTOBUF, FORMATS };

/*
 * The one with the highest q; of equals the one that says more: protobuf, OpenMetrics, text. Without a header, or with
 * any type allowed, text. -1 = none of ours.
 */
int accept_format(const char *accept);
const char *format_content_type(enum metrics_format format);
