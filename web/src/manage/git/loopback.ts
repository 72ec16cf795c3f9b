/** Returns true for the name of a host that only programs on the same machine reach. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname);
