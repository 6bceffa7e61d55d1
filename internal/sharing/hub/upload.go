package hub

// program is the hub's own, of the Python package huggingface_hub.
const program = "hf"

// Command is the command line that uploads a folder to the repository namespace/name, which it
// creates if needed.
func Command(kind Kind, namespace, name, folder string) []string {
	return []string{program, "upload", namespace + "/" + name, folder, ".", "--repo-type", string(kind)}
}
