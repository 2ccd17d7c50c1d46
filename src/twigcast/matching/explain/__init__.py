"""Why a document matches or not, and which nodes made it match."""
