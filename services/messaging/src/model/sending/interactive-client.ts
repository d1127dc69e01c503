const interactiveClients =
  /^(zulipandroid|zulipios|zulipdesktop|zulipmobile|zulipelectron|zulipterminal|zulipflutter|snipe|website|ios|android)$|desktop app/i;

/** Clients in which a message counts as read by its sender. */
export const isInteractiveClient = (client: string): boolean => interactiveClients.test(client);
