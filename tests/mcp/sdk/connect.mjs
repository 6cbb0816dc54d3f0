// connect(words): the official client, connected over stdio or HTTP as the words of the command line say.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect([kind, where, ...args]) {
  const token = process.env.SCHEDSCOPE_TOKEN;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const client = new Client({ name: 'peer', version: '1' }, { capabilities: {} });
  const transport = kind === 'http' ? new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers } })
    : new StdioClientTransport({ command: where, args, stderr: 'inherit' });
  const failures = [];
  client.onerror = (error) => failures.push(error);
  const start = performance.now();
  await client.connect(transport);
  client.firstAnswerMs = Math.round(performance.now() - start);
  const close = async () => {
    if (kind === 'http') await transport.terminateSession();
    await client.close();
    // Streams that end because the session does are no failures.
    const real = failures.filter((e) => !/abort|terminated|SSE stream disconnected/i.test(String(e)));
    if (real.length) throw real[0];
  };
  return { client, close };
}
