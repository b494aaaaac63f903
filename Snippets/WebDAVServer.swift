// A folder that mounts like a disk: WebDAV for the Finder, the Explorer, and programs.
import DuplexServer
import DuplexSharing

var options = FolderOptions()
options.quota = .gibibytes(10)
options.access = { visitor in visitor.user == "mia" ? .readAndWrite : .read }
let folder = try SharedFolder("shared", options: options)

var server = WebServer(port: 8080)
server.webDAV("/dav", .basicAuth(realm: "shared", accounts: ["mia": "secret", "leo": "other"]), folder: folder)

await server.runAndExit()
