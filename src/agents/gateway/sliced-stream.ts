import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection for an HTTP server that passes on received data in slices of `sliceBytes()`, and nothing more once that
 * is 0. Node's parser handles all requests of a 64 KiB chunk at once, and closing the connection during the first of
 * them does not stop it: connections full of tiny requests would block the event loop for seconds.
 */
export function createSlicedStream(socket: Socket, sliceBytes: () => number): Duplex {
  let rest: Buffer | null = null;
  let hasEnded = false;
  const passOn = () => {
    while (rest !== null) {
      const size = sliceBytes();
      const slice: Buffer = rest.subarray(0, size);
      rest = rest.length > size ? rest.subarray(size) : null;
      if (size === 0) rest = null;
      if (size === 0 || !stream.push(slice)) return;
    }
    if (hasEnded) stream.push(null);
    else socket.resume();
  };
  const stream = new Duplex({
    // One slice at a time while the server does not read.
    readableHighWaterMark: 1,
    read: passOn,
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    writev: (chunks, done) => void socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    rest = chunk;
    socket.pause();
    passOn();
  });
  socket.once('end', () => {
    hasEnded = true;
    if (rest === null) stream.push(null);
  });
  socket.once('error', (error) => stream.destroy(error));
  socket.once('close', () => stream.destroy());
  socket.on('timeout', () => stream.emit('timeout'));
  // The server calls these methods if a stream has them.
  return Object.assign(stream, {
    setTimeout: (ms: number) => socket.setTimeout(ms),
    destroySoon: () => void stream.end(() => stream.destroy()),
  });
}
