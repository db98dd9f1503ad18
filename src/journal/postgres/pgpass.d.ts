/** The package has no types of its own. */
declare module "pgpass" {
  function pgpass(
    connection: pgpass.Connection,
    answer: (password: string | undefined) => void,
  ): void;
  namespace pgpass {
    interface Connection {
      readonly host?: string;
      readonly port?: number;
      readonly database?: string;
      readonly user?: string;
    }
  }
  export = pgpass;
}
