/**
 * A minimal replacement for a Kubernetes Service: each new connection goes to a ready gateway; existing connections are
 * left alone. A second port returns the /readyz state of containers inside the network.
 */
import { createServer, get } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';

const backends = process.env.BACKENDS.split(',');
const ready = new Set();

const readiness = (host) =>
  new Promise((resolve) => {
    const request = get({ host, port: 9100, path: '/readyz', timeout: 500, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(0));
  });

for (const host of backends)
  void (async () => {
    for (;;) {
      if ((await readiness(host)) === 200) ready.add(host);
      else ready.delete(host);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();

createTcpServer({ allowHalfOpen: true }, (client) => {
  client.on('error', () => client.destroy());
  forward(
    client,
    [...ready].sort(() => Math.random() - 0.5),
  );
}).listen(8080);

/** Only a connection that could not be opened is retried elsewhere: nothing was sent on it. */
function forward(client, [host, ...others]) {
  if (host === undefined) return client.destroy();
  const backend = connect({ host, port: 9991, allowHalfOpen: true });
  const timer = setTimeout(() => backend.destroy(new Error('timeout')), 1_000);
  const refused = () => {
    clearTimeout(timer);
    forward(client, others);
  };
  backend.once('error', refused);
  backend.once('connect', () => {
    clearTimeout(timer);
    backend.off('error', refused);
    backend.on('error', () => client.destroy());
    client.on('close', () => backend.destroy());
    backend.on('close', () => client.destroy());
    client.pipe(backend).pipe(client);
  });
}

createServer(async (request, response) => {
  const { searchParams } = new URL(request.url, 'http://balancer');
  response.statusCode = (await readiness(searchParams.get('host'))) || 502;
  response.end();
}).listen(8081);
