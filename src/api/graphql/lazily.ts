/** The results of the maker functions. */
export type Made<M extends Readonly<Record<string, (from: never) => unknown>>> = {
  readonly [K in keyof M]: ReturnType<M[K]>;
};

/**
 * Creates objects whose members are computed on first access, each once: an operation needs few of the values that it
 * may request. All of these objects share one shape, so creating one costs next to nothing.
 */
export const lazily =
  <From>() =>
  <M extends Readonly<Record<string, (from: From) => unknown>>>(makers: M): ((from: From) => Made<M>) => {
    const shape = {};
    for (const [name, make] of Object.entries(makers)) {
      Object.defineProperty(shape, name, {
        enumerable: true,
        get(this: { readonly from: From }) {
          const value = make(this.from);
          Object.defineProperty(this, name, { value, enumerable: true });
          return value;
        },
      });
    }
    return (from) => Object.assign(Object.create(shape), { from }) as Made<M>;
  };
