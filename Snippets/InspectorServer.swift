// An app whose insides are live in the browser: at the address that is printed, with its token.
import DuplexInspector
import DuplexServer
import DuplexSharing
import Logging

let console = InspectorConsole()
LoggingSystem.bootstrap { InspectorLogHandler(label: $0, to: console, and: StreamLogHandler.standardError(label: $0)) }

var options = InspectorOptions()
options.allowedChanges = [.sending, .commands]
options.console = console
options.databases["Main"] = "app.sqlite"
options.folders["Documents"] = try SharedFolder("documents")
options.messages { text in .text(text.uppercased()) }
options.commands.add("Greet", .text("name")) { arguments in "Hello \(arguments.text("name") ?? "you")" }

var server = WebServer(port: 8080)
server.webSocket("/echo") { socket in
    for try await message in socket.messages { try await socket.send(message) }
}
server.inspector("/_inspect", options: options)
await server.runAndExit()
