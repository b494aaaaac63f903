// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
extension SnippetServersTests {
    /// Runs a snippet that doesn't end until it has printed something, and prints what it has.
    private static func awaiting(_ text: String, from snippet: String) -> String {
        "stdbuf -oL $snippets/\(snippet) > client.txt 2>&1 & c=$!; "
            + "until grep -q '\(text)' client.txt; do kill -0 $c || break; done; cat client.txt; kill $c"
    }

    /// Gets one event of a feed, which doesn't end.
    private static let firstEvent =
        "\(curl)/prices/gold -N > feed.txt & c=$!; until grep -q '^data: 42' feed.txt; do kill -0 $c || break; done; "
        + "cat feed.txt; kill $c"

    /// Those with certificates, folders of the system, passwords, or clients that stay.
    static let furtherConversations = [
        Conversation(
            server: "EchoServer",
            client: awaiting("Connected!", from: "ChatController"),
            expected: ["Opening connection…\n", "Connected!\n"]
        ),
        Conversation(
            server: "EchoServer",
            client: awaiting("subscribe prices", from: "ReconnectingClient"),
            expected: ["connecting(1, url 0)\n", "subscribe prices\n"]
        ),
        Conversation(
            server: "EchoServer",
            client: awaiting("ACME", from: "PriceClient"),
            expected: ["ACME unknown\n"]
        ),
        Conversation(
            server: "FileServer",
            preparation: "mkdir dist && echo app > dist/index.html && mount -t tmpfs none /srv && mkdir /srv/downloads "
                + "&& echo text > /srv/downloads/a.txt",
            client: "\(curl)/some/page; \(curl)/downloads/; \(curl)/downloads/a.txt -i",
            expected: ["app\n", "a.txt", "attachment", "text\n"]
        ),
        Conversation(
            server: "LongMessages",
            client: "printf 'hello\\n' | $snippets/duplex connect ws://localhost:8080/upload",
            expected: ["hello\nThese were 5 bytes.\n"]
        ),
        Conversation(
            server: "WebServerInTenMinutes",
            client: "echo text > a.txt; \(curl)/notes/1; \(curl)/notes/2; \(curl)/files -F file=@a.txt; "
                + "\(curl)/notes -H 'Content-Type: application/json' -d '{\"title\":\"x\"}'; "
                + "\(curl)/admin -u 'mia:a long password'; \(curl)/admin -o /dev/null -w ' %{http_code}'",
            expected: [
                #"{"title":"The first"}"#, "There is no note 2.", "a.txt: 5 bytes", #"{"title":"x"}"#, "Hello mia",
                " 401",
            ]
        ),
        Conversation(
            server: "NotesServer",
            client: "\(curl)/notes/1; \(curl)/notes/2 -o /dev/null -w ' %{http_code} '; "
                + "\(curl)/notes -d '{}' -o /dev/null -w '%{http_code}\\n'; json='Content-Type: application/json'; "
                + "\(curl)/notes --oauth2-bearer secret -H \"$json\" -d '{\"title\":\"\"}'; "
                + "\(curl)/notes --oauth2-bearer secret -H \"$json\" -d '{\"title\":\"x\"}' -w '%{http_code} '; "
                + "\(curl)/notes/2",
            expected: [#"{"title":"The first"}"#, " 404 ", "401\n", "A note needs a title.", "201 ", #"{"title":"x"}"#]
        ),
        Conversation(
            server: "LoggingIn",
            preparation: "htpasswd -cbB passwords mia secret",
            client: "\(curl)/notes -o /dev/null -w '%{http_code} %{redirect_url} '; "
                + "id=$(\(curl)/login -i -u mia:secret | grep -o '__Host-session=[^;]*'); \(curl)/notes -H \"Cookie: $id\"",
            expected: ["303 http://localhost:8080/login ", "The notes of mia."]
        ),
        Conversation(
            server: "SecuredServer",
            preparation: "$snippets/duplex cert example.com && echo 127.0.0.1 example.com > hosts "
                + "&& mount --bind hosts /etc/hosts",
            port: 443,
            client: "curl -s http://example.com/ -o /dev/null -w '%{http_code} %{redirect_url} '; "
                + "curl -s --cacert cert.pem https://example.com/; "
                + "SSL_CERT_FILE=cert.pem $snippets/HTTPByHand example.com",
            expected: [
                "308 https://example.com/ ", "<title>Hello</title>", "HTTP/1.1 200 OK",
                "-- and a body of 107 bytes, over TLS 1.3\n",
            ]
        ),
        Conversation(
            server: "WebServerLife",
            preparation: "$snippets/duplex cert localhost",
            port: 8_443,
            client:
                "\(curl)/; \(curl)/version -H 'Host: api.example.com'; \(curl)/a.cgi -o /dev/null -w ' %{http_code} '; "
                + "mv access.log before.log; kill -HUP $pid; until [ -e access.log ]; do kill -0 $pid || break; done; "
                + "curl -s --cacert cert.pem https://localhost:8443/x; "
                + "until grep -q 'GET /x ' access.log; do kill -0 $pid || break; done; cat before.log access.log",
            expected: ["This is localhost:8080.", "2", " 410 ", "Nothing is called /x here.", "GET /a.cgi HTTP/1.1"]
        ),
        Conversation(
            server: "TopicServer",
            client: "\(curl)/publish/gold -d 42 -w '%{http_code} '; \(firstEvent); "
                + "printf 'hi\\n' | $snippets/duplex connect ws://localhost:8080/rooms/a -n 1",
            expected: ["204 ", "data: 42\n", "hi\n"]
        ),
        Conversation(
            server: "InspectorServer",
            preparation: "mkdir documents && : > app.sqlite",
            client: "\(curl)/_inspect/ -o /dev/null -w '%{http_code} '; "
                + "until grep -q token= server.txt; do kill -0 $pid || break; done; "
                + "curl -s -L -c jar \"$(grep -o 'http[^ ]*token=[0-9a-f]*' server.txt)\"; "
                + "curl -s -b jar http://localhost:8080/_inspect/",
            expected: ["401 ", ">Go on<", "<!DOCTYPE html>", "<title>Inspector</title>"]
        ),
        Conversation(
            server: "a mail server",
            command: "python3 server.py",
            preparation: "$snippets/duplex cert localhost && printf '%s\\n' '\(mailServer)' > server.py",
            port: 2_525,
            client: "SSL_CERT_FILE=cert.pem $snippets/TLSUpgrade",
            expected: ["220 mail\n", "250 STARTTLS\n220 go\n-- TLS 1.3, ", "250 STARTTLS\n221 bye\n"]
        ),
        // The client gets messages without a pause, and no close frame.
        Conversation(
            server: "a server that never closes",
            command: "python3 server.py",
            preparation: "printf '%s\\n' '\(busyServer)' > server.py",
            client: "$snippets/BlockingClient",
            expected: ["hello\n", "closed by this side with 1000 (normal closure), and reset before the peer's answer"]
        ),
    ]

    /// Knows what the snippet says to it.
    private static let mailServer = """
        import socket, ssl
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain("cert.pem", "key.pem")
        peer = socket.create_server(("127.0.0.1", 2525)).accept()[0]
        peer.sendall(b"220 mail\\r\\n")
        answers = {b"EHLO": b"250-mail\\r\\n250 STARTTLS\\r\\n", b"QUIT": b"221 bye\\r\\n"}
        while command := peer.recv(1000):
            peer.sendall(answers.get(command[:4], b"220 go\\r\\n"))
            if command.startswith(b"STARTTLS"): peer = context.wrap_socket(peer, server_side=True)
        """

    /// Sends messages for half a minute, whatever the client says.
    private static let busyServer = """
        import base64, hashlib, re, socket, time
        peer = socket.create_server(("127.0.0.1", 8080)).accept()[0]
        head = b""
        while b"\\r\\n\\r\\n" not in head: head += peer.recv(1000)
        key = re.search(b"(?i)sec-websocket-key: *([^\\r]+)", head)[1]
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        peer.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n")
        peer.sendall(b"Sec-WebSocket-Accept: " + accept + b"\\r\\n\\r\\n")
        for _ in range(600):
            peer.sendall(b"\\x81\\x05hello")
            time.sleep(0.05)
        """
}
#endif
