const interactiveClients =
  /^(zulipandroid|zulipios|zulipdesktop|zulipmobile|zulipelectron|zulipterminal|zulipflutter|snipe|website|ios|android)$|desktop app/i;

/** Clients in which a person has seen what they sent (semantics 2). */
export const isInteractiveClient = (client: string): boolean => interactiveClients.test(client);
