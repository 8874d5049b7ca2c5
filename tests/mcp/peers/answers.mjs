// What the peers answer: the very results that Draftboard gave, held as objects, so that every server sends the same bytes.
import { readFileSync } from 'node:fs';

const [file, port] = process.argv.slice(2);
export const answers = JSON.parse(readFileSync(file, 'utf8'));

/** Connections stay open between rounds. */
export const listen = (server) => {
  server.keepAliveTimeout = 600_000;
  server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
};

/** Only what belongs to the protocol with a handshake. */
export const withoutEra = ({ resultType, ttlMs, cacheScope, _meta, ...result }) => result;
